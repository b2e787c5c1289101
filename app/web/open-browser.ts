/** Opens a link or a local page in the user's browser, in each system's way. */
import { spawn } from 'node:child_process';

export interface Opener {
  readonly command: string;
  readonly parameters: readonly string[];
}

/**
 * Windows' `start` belongs to its shell. rundll32 does the same without a shell that would interpret
 * characters of the link.
 */
export function openerOf(target: string, platform: string = process.platform): Opener {
  if (platform === 'darwin') return { command: 'open', parameters: [target] };
  if (platform === 'win32')
    return { command: 'rundll32.exe', parameters: ['url.dll,FileProtocolHandler', target] };
  return { command: 'xdg-open', parameters: [target] };
}

/**
 * Resolves to whether a program took it; a machine without a screen has none. Some openers run as long as the
 * browser does.
 */
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
