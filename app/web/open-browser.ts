/** Opens a link in the user's browser, as each system does it. */
import { spawn } from 'node:child_process';

export interface Opener {
  readonly command: string;
  readonly parameters: readonly string[];
}

/** `start` of Windows is a word of its shell; rundll32 does the same without a shell that would read the link's letters. */
export function openerOf(url: string, platform: string = process.platform): Opener {
  if (platform === 'darwin') return { command: 'open', parameters: [url] };
  if (platform === 'win32')
    return { command: 'rundll32.exe', parameters: ['url.dll,FileProtocolHandler', url] };
  return { command: 'xdg-open', parameters: [url] };
}

/** Resolves to whether something took the link; a machine without a screen has nothing for it. */
export function openBrowser(url: string, opener: Opener = openerOf(url)): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(opener.command, opener.parameters, { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
    child.unref();
  });
}
