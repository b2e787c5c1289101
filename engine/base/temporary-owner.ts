/** Decides whether Dray may use a temporary folder, which may lie where other users write too. */
import type { Stats } from 'node:fs';
import { DrayError } from '../api/error.ts';

/** The folder of unfinished files, inside the folder that a writer fills. */
export const TEMPORARY_FOLDER_NAME = '.dray-tmp';

/** Whether a path is a temporary folder or lies in one. */
export function isBelowTemporaryFolder(path: string): boolean {
  return path.includes(TEMPORARY_FOLDER_NAME) && path.split('/').includes(TEMPORARY_FOLDER_NAME);
}

type Owned = Pick<Stats, 'uid'>;

/**
 * Whether an item belongs to this user, to root, or to the owner of its parent folder. That owner could
 * replace everything in it anyway, and a file server may give all new files to one user. Always true on
 * Windows, where Node reports no owners.
 */
export function isOwn(found: Owned, folder: Owned): boolean {
  const own = process.geteuid?.();
  return own === undefined || found.uid === own || found.uid === 0 || found.uid === folder.uid;
}

/** @throws DrayError `accessDenied` when it belongs to another user, who could replace Dray's files in it. */
export function checkTemporaryFolder(path: string, found: Owned, parent: Owned): void {
  if (isOwn(found, parent)) return;
  throw new DrayError(
    'accessDenied',
    `${path} belongs to another user (uid ${found.uid}), so Dray does not write there. ` +
      'Delete it when no Dray process of that user runs.',
    { data: { path, uid: found.uid } },
  );
}
