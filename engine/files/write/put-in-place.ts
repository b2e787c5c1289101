/** The last step of every file with a temporary name. */
import { lstatSync, renameSync, rmSync, type Stats } from 'node:fs';
import type { WrittenStat } from './tree-writer-types.ts';
import { errnoOf } from './write-error.ts';

/** `folderInTheWay`: a complete temporary file that waits for a decision by the owner of the folders. */
export type PlaceOutcome = { readonly stat: WrittenStat } | { readonly folderInTheWay: string };

/** Renames a closed temporary file over a file, a link or nothing, never through a link. */
export function putInPlace(temporary: string, absolute: string): PlaceOutcome {
  try {
    renameSync(temporary, absolute);
  } catch (error) {
    if (isFolder(absolute, error)) return { folderInTheWay: temporary };
    throw error;
  }
  return { stat: statWritten(absolute) };
}

export function putInPlaceOrRemove(temporary: string, absolute: string): PlaceOutcome {
  try {
    return putInPlace(temporary, absolute);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The stat that a scan will read; the change time is the rename's. */
export function statWritten(absolute: string): WrittenStat {
  return writtenStat(lstatSync(absolute));
}

export function writtenStat({ ctimeMs, ino, mtimeMs, size }: Stats): WrittenStat {
  return { mtimeMs, ctimeMs, inode: ino, sizeBytes: size };
}

function isFolder(absolute: string, error: unknown): boolean {
  const errno = errnoOf(error);
  if (errno === 'EISDIR') return true;
  // Windows and some network file systems report other codes for it.
  if (errno !== 'EPERM' && errno !== 'EACCES' && errno !== 'EEXIST' && errno !== 'ENOTEMPTY') return false;
  return lstatSync(absolute, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
