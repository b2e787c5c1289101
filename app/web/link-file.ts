/**
 * A link on its way to the browser. Every user of a machine can read the command lines of the others, so what is opened is no link but
 * a file that this user alone can read, and which leads to it. On Windows they cannot, and there the program for files may be no browser.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface LinkFile extends Disposable {
  readonly path: string;
}

/** @param folder Where the browser can read; the file lies in a folder of its own in it. */
export function writeLinkFile(url: string, folder: string): LinkFile {
  // Made for its owner alone (0700).
  const own = mkdtempSync(join(folder, 'dray-ui-'));
  const path = join(own, 'open.html');
  const page = [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Dray</title>',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0;url=${url}">`,
    `<p><a href="${url}">Open Dray</a></p></html>\n`,
  ].join('\n');
  writeFileSync(path, page, { mode: 0o600 });
  return { path, [Symbol.dispose]: () => rmSync(own, { recursive: true, force: true }) };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the user's browser can read a file. One that is a snap (Ubuntu's Firefox) sees of the disk its own folders and little else. */
export async function findLinkFolder(environment: Environment): Promise<string> {
  const snap = /^([a-z0-9-]+)_\1\.desktop$/.exec(await defaultBrowser(environment))?.[1];
  const folder = join(environment.HOME ?? '', 'snap', snap ?? '', 'common');
  return snap !== undefined && existsSync(folder) ? folder : tmpdir();
}

const PATIENCE_MS = 2_000;

/** The name of its desktop entry: `firefox.desktop`, of a snap `firefox_firefox.desktop`. Empty where the desktop does not say. */
function defaultBrowser(environment: Environment): Promise<string> {
  if (process.platform !== 'linux') return Promise.resolve('');
  return new Promise((resolve) => {
    const options = { env: environment as NodeJS.ProcessEnv, timeout: PATIENCE_MS };
    execFile('xdg-settings', ['get', 'default-web-browser'], options, (error, stdout) =>
      resolve(error ? '' : stdout.trim()),
    );
  });
}
