/**
 * Refuses a `.dray` folder of another user, as git does with `.git`. A workspace's settings decide where data
 * and keys go, and anybody can create a `.dray` in a parent folder such as `/tmp`. Root accepts workspaces of
 * root and, under sudo, of the calling user. Windows has no numeric owners, so nothing is checked there.
 */
import { fstatSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DrayError } from '../api/error.ts';
import { shellWord } from '../base/shell-word.ts';

/**
 * Whether the user allows the workspace at this root, whoever owns it. Called only for workspaces of other
 * users.
 */
export type AllowsFolder = (root: string) => boolean;

/** @throws `usage` when the folder, or the target of a link in its place, belongs to another user. */
export function checkOwner(drayFolder: string): void {
  const found = lstatSync(drayFolder);
  const owners = [found.uid, ...(found.isSymbolicLink() ? [statSync(drayFolder).uid] : [])];
  for (const owner of owners) if (!isOwn(owner)) throw foreign(dirname(drayFolder), drayFolder, owner);
}

/** Checks the owner of an open file in the folder. */
export function checkFileOwner(root: string, path: string, descriptor: number): void {
  const { uid } = fstatSync(descriptor);
  if (!isOwn(uid)) throw foreign(root, path, uid);
}

function isOwn(owner: number): boolean {
  const user = process.geteuid?.();
  if (user === undefined || owner === user) return true;
  const caller = process.env.SUDO_UID;
  return user === 0 && caller !== undefined && /^\d+$/.test(caller) && owner === Number(caller);
}

/** From the system's list of accounts. Undefined for accounts that a network service keeps. */
function userName(uid: number): string | undefined {
  try {
    const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
    return accounts.map((line) => line.split(':')).find((fields) => fields[2] === String(uid))?.[0];
  } catch {
    return undefined;
  }
}

function foreign(root: string, path: string, owner: number): DrayError {
  const ownerName = userName(owner);
  return new DrayError(
    'usage',
    `${path} belongs to another user (uid ${owner}), and its settings could send your data and keys elsewhere.`,
    {
      data: { path, owner, ...(ownerName ? { ownerName } : {}), root, reason: 'foreignFolder' },
      advice: `If you trust it, allow it: dray config --user safe.directory ${shellWord(root)}`,
      command: `dray config --user safe.directory ${shellWord(root)}`,
    },
  );
}
