/** Whose temporary folder Dray may use: it may lie in a folder that others write in too. */
import type { Stats } from 'node:fs';
import { DrayError } from '../api/error.ts';

/** Where writers keep unfinished files: in the folder that they were given, which may lie in any other tree. */
export const TEMPORARY_FOLDER_NAME = '.dray-tmp';

/** Whether a path is a temporary folder, or lies in one. */
export function isBelowTemporaryFolder(path: string): boolean {
  return path.includes(TEMPORARY_FOLDER_NAME) && path.split('/').includes(TEMPORARY_FOLDER_NAME);
}

type Owned = Pick<Stats, 'uid'>;

/**
 * Whether something in a folder was put there by this user, by the system's, or by the owner of that folder, who could replace all of it
 * anyway. (A file server may give all that it makes to one user.) Windows tells no owners.
 */
export function isOwn(found: Owned, folder: Owned): boolean {
  const own = process.geteuid?.();
  return own === undefined || found.uid === own || found.uid === 0 || found.uid === folder.uid;
}

/** @throws DrayError `accessDenied` when it belongs to somebody else, who could put anything there in the place of what Dray does. */
export function checkTemporaryFolder(path: string, found: Owned, parent: Owned): void {
  if (isOwn(found, parent)) return;
  throw new DrayError(
    'accessDenied',
    `${path} belongs to another user (uid ${found.uid}), so nothing is written there. When no Dray of that user runs, delete it.`,
    { data: { path, uid: found.uid } },
  );
}
