/**
 * A folder's own permission bits and modification time, which every write in it would change again. Never
 * through a link.
 */
import { closeSync, constants, fchmodSync, fstatSync, openSync, utimesSync } from 'node:fs';
import { SPECIAL_BITS, travellingMode } from '../../model/special-modes.ts';
import type { TreeReach } from '../scan/tree-reach.ts';
import { errnoOf, unsafePath, writeError } from '../write/write-error.ts';
import type { SetMtime } from './set-mtime.ts';

export interface FolderChange {
  /** Permission bits. */
  readonly mode?: number;
  readonly mtimeNs?: bigint;
}

export interface FolderParts {
  readonly reach: TreeReach;
  /** From `loadSetMtime`. */
  readonly setMtime: SetMtime;
  /** Makes a folder and those above it. */
  readonly make: (path: string) => void;
  /** Set-uid, set-gid and sticky bits are set as well. Otherwise a folder keeps those that it has. */
  readonly specialModes: boolean;
}

const FOLDER_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Sets what is given of a folder, which is made when it is not there.
 * @param path Relative, without a slash at the end; '' is the root.
 * @throws DrayError `unsafePath` for a link in its place, `conflict` for a file, `io` (`data.errno` EPERM: it
 * belongs to somebody else).
 */
export function setFolder(parts: FolderParts, path: string, to: FolderChange): void {
  const { make, reach } = parts;
  try {
    try {
      setFolderAt(reach.absoluteOf(path), to, parts);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      reach.release();
      make(path);
      setFolderAt(reach.absoluteOf(path), to, parts);
    }
  } catch (error) {
    // A link is ELOOP, or ENOTDIR for the sake of O_DIRECTORY, as a file is.
    if (errnoOf(error) === 'ELOOP' || errnoOf(error) === 'ENOTDIR')
      throw unsafePath(path, 'a symbolic link or a file lies where a folder has to be');
    throw writeError(error, `${path}/`);
  } finally {
    reach.release();
  }
}

/** Sets an existing folder, by a path that ends in its own name. Throws Node's errors. */
export function setFolderAt(
  absolute: string,
  { mode, mtimeNs }: FolderChange,
  { setMtime, specialModes }: Pick<FolderParts, 'setMtime' | 'specialModes'>,
): void {
  if (process.platform === 'win32') {
    // No time can be set there of what is open to be read, and modes mean nothing.
    if (mtimeNs !== undefined) utimesSync(absolute, Date.now() / 1000, Number(mtimeNs) / 1e9);
    return;
  }
  const fd = openSync(absolute, FOLDER_FLAGS);
  try {
    if (mtimeNs !== undefined) setMtime(fd, mtimeNs);
    if (mode !== undefined)
      fchmodSync(fd, specialModes ? mode : travellingMode(mode, {}) | (fstatSync(fd).mode & SPECIAL_BITS));
  } finally {
    closeSync(fd);
  }
}
