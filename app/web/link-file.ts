/**
 * Hands a link to the browser through a file. Every user of a machine can read the command lines of others,
 * so the browser opens a file that only this user can read and that leads to the link. On Windows command
 * lines are private, and files may open in a program that is not a browser.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface LinkFile extends Disposable {
  readonly path: string;
}

/** @param folder A folder that the browser can read. The file gets a folder of its own in it. */
export function writeLinkFile(url: string, folder: string): LinkFile {
  // Readable by its owner only (0700).
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

/**
 * A folder whose files the user's browser can read. A browser from a snap (Ubuntu's Firefox) sees little more
 * than its own folders.
 */
export async function findLinkFolder(environment: Environment): Promise<string> {
  const snap = /^([a-z0-9-]+)_\1\.desktop$/.exec(await defaultBrowser(environment))?.[1];
  const folder = join(environment.HOME ?? '', 'snap', snap ?? '', 'common');
  return snap !== undefined && existsSync(folder) ? folder : tmpdir();
}

const PATIENCE_MS = 2_000;

/**
 * The name of the browser's desktop entry: `firefox.desktop`, for a snap `firefox_firefox.desktop`. Empty if
 * the desktop does not say.
 */
function defaultBrowser(environment: Environment): Promise<string> {
  if (process.platform !== 'linux') return Promise.resolve('');
  return new Promise((resolve) => {
    const options = { env: environment as NodeJS.ProcessEnv, timeout: PATIENCE_MS };
    execFile('xdg-settings', ['get', 'default-web-browser'], options, (error, stdout) =>
      resolve(error ? '' : stdout.trim()),
    );
  });
}
