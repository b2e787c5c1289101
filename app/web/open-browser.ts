/** Opens a link or a page of the disk in the user's browser, as each system does it. */
import { spawn } from 'node:child_process';

export interface Opener {
  readonly command: string;
  readonly parameters: readonly string[];
}

/** `start` of Windows is a word of its shell; rundll32 does the same without a shell that would read the link's letters. */
export function openerOf(target: string, platform: string = process.platform): Opener {
  if (platform === 'darwin') return { command: 'open', parameters: [target] };
  if (platform === 'win32')
    return { command: 'rundll32.exe', parameters: ['url.dll,FileProtocolHandler', target] };
  return { command: 'xdg-open', parameters: [target] };
}

/** Resolves to whether something took it; a machine without a screen has nothing for it. Some openers run as long as the browser does. */
export function openBrowser(
  { command, parameters }: Opener,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, parameters, {
      stdio: 'ignore',
      detached: true,
      env: environment as NodeJS.ProcessEnv,
    });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
    child.unref();
  });
}
