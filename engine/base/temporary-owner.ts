/** Decides which temporary folder Dray may use: it may lie in a folder that other users write in too. */
import type { Stats } from 'node:fs';
import { DrayError } from '../api/error.ts';

/** The folder of unfinished files, in the folder that a writer was given. */
export const TEMPORARY_FOLDER_NAME = '.dray-tmp';

/** Whether a path is a temporary folder, or lies in one. */
export function isBelowTemporaryFolder(path: string): boolean {
  return path.includes(TEMPORARY_FOLDER_NAME) && path.split('/').includes(TEMPORARY_FOLDER_NAME);
}

type Owned = Pick<Stats, 'uid'>;

/**
 * Whether an item belongs to this user, to root, or to the owner of the folder around it, who could replace
 * everything in it anyway. (A file server may give all new files to one user.) Always true on Windows, where
 * Node tells no owners.
 */
export function isOwn(found: Owned, folder: Owned): boolean {
  const own = process.geteuid?.();
  return own === undefined || found.uid === own || found.uid === 0 || found.uid === folder.uid;
}

/**
 * @throws DrayError `accessDenied` when it belongs to somebody else, who could replace Dray's files in it.
 */
export function checkTemporaryFolder(path: string, found: Owned, parent: Owned): void {
  if (isOwn(found, parent)) return;
  throw new DrayError(
    'accessDenied',
    `${path} belongs to another user (uid ${found.uid}), so nothing is written there. When no Dray of that user runs, delete it.`,
    { data: { path, uid: found.uid } },
  );
}
