/** A workspace whose settings belong to another user. Only root can make one. */
import { existsSync, lchownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { OpenWindow } from '../open-window.ts';

export const SOMEBODY = 54_321;

export const canGiveFolders = process.geteuid?.() === 0;

/** Makes a workspace in this new folder, with one file and one commit. It is this user's own. */
export async function makeSharedWorkspace(root: string): Promise<void> {
  mkdirSync(root);
  writeFileSync(join(root, 'a.csv'), 'row 1');
  const dray = (...parameters: string[]) => runCli(parameters, { cwd: root, environment: {} });
  await dray('init', '--remote', join(dirname(root), 'remote'));
  await dray('push', '-m', 'First');
}

/** Gives the workspace's settings to another user. Its data stays where it is. */
export function giveWorkspace(root: string, owner: number): void {
  const folder = join(root, '.dray');
  for (const name of [...readdirSync(folder), '.']) lchownSync(join(folder, name), owner, owner);
}

/** The settings of the window's user; undefined if there are none yet. */
export function userSettingsOf({ folder }: OpenWindow): unknown {
  const file = join(folder, 'home/.config/dray/config.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
