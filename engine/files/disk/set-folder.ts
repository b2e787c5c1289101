/**
 * Sets a folder's permission bits and modification time, never through a link. Each later write in the folder
 * changes its time again, so set folders last.
 */
import { closeSync, constants, fstatSync, openSync, utimesSync } from 'node:fs';
import { SPECIAL_BITS, travellingMode } from '../../model/special-modes.ts';
import type { TreeReach } from '../scan/tree-reach.ts';
import { errnoOf, unsafePath, writeError } from '../write/write-error.ts';
import { type DiskRefusals, setAttributes } from './disk-refusals.ts';
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
  /** Creates a folder and its parents. */
  readonly make: (path: string) => void;
  /** Counts what the disk does not keep. */
  readonly refusals?: DiskRefusals | undefined;
  /** True: also sets the set-uid, set-gid and sticky bits. False: a folder keeps its own. */
  readonly specialModes: boolean;
}

const FOLDER_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Sets the given attributes of a folder, and creates it if it is missing.
 * @param path Relative, without a slash at the end; '' is the root.
 * @throws DrayError `unsafePath` for a link in its place, `conflict` for a file, `io` (`data.errno` EPERM:
 * the folder belongs to another user).
 * @returns Whether it differs from before.
 */
export function setFolder(parts: FolderParts, path: string, to: FolderChange): boolean {
  const { make, reach } = parts;
  try {
    try {
      return setFolderAt(reach.absoluteOf(path), to, parts);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      reach.release();
      make(path);
      setFolderAt(reach.absoluteOf(path), to, parts);
      return true;
    }
  } catch (error) {
    // A link fails with ELOOP, or with ENOTDIR because of O_DIRECTORY, as a file does.
    if (errnoOf(error) === 'ELOOP' || errnoOf(error) === 'ENOTDIR')
      throw unsafePath(path, 'a symbolic link or a file lies where a folder has to be');
    throw writeError(error, `${path}/`);
  } finally {
    reach.release();
  }
}

/**
 * Sets an existing folder, and returns whether it differs from before. The path ends in the folder's own
 * name. Throws Node's errors.
 */
export function setFolderAt(
  absolute: string,
  { mode, mtimeNs }: FolderChange,
  { refusals, setMtime, specialModes }: Pick<FolderParts, 'refusals' | 'setMtime' | 'specialModes'>,
): boolean {
  if (process.platform === 'win32') {
    // There, an item that is open for reading accepts no time, and modes have no meaning.
    if (mtimeNs !== undefined) utimesSync(absolute, Date.now() / 1000, Number(mtimeNs) / 1e9);
    return true;
  }
  const fd = openSync(absolute, FOLDER_FLAGS);
  try {
    // The time last: a disk that refuses modes still gets the time.
    const before = fstatSync(fd);
    const kept = mode === undefined || specialModes ? 0 : before.mode & SPECIAL_BITS;
    const wanted = mode === undefined || specialModes ? mode : travellingMode(mode, {}) | kept;
    setAttributes(fd, { mode: wanted, mtimeNs }, { refusals, setMtime });
    const after = fstatSync(fd);
    return before.mode !== after.mode || before.mtimeMs !== after.mtimeMs;
  } finally {
    closeSync(fd);
  }
}
