/**
 * The folders of a tree that is being written.
 *
 * Invariants, which keep every write inside the root although threads write concurrently:
 * - Only the thread that opened the writer creates and removes folders.
 * - A folder is used only after each part of its path was found to be a real folder, never a link.
 * - A folder with writes in flight is held by its inode, so under any spelling of its name, and is not
 *   removed. Hence none can be swapped for a link between the check and the write.
 * - Removing a folder drops all remembered folders: on a case-insensitive file system its name has other
 *   spellings.
 * - A folder that is another name of the `.dray` beside it is not used.
 */
import { lstatSync, mkdirSync, readdirSync, rmdirSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { foldName } from '../../model/name-collisions.ts';
import { identityFrom } from '../scan/folder-nesting.ts';
import { plainReach, type TreeReach } from '../scan/tree-reach.ts';
import type { TreeWriterOptions } from './tree-writer-types.ts';
import {
  attemptWrite,
  errnoOf,
  fileInTheWay,
  folderInTheWay,
  linkInTheWay,
  unsafePath,
  writeError,
} from './write-error.ts';

/** Inodes of folders. */
export type FolderHold = readonly number[];

export interface Folders {
  /**
   * Creates a folder and its parents. Throws `unsafePath` for a link in its path, `conflict` for a file,
   * `io`, `diskFull`.
   * @param folder Relative, without a slash at the end; '' is the root.
   */
  make(folder: string): void;
  /**
   * Creates the folder of each path and holds it until `release`. Returns an error for each path without a
   * folder.
   */
  holdParents(paths: Iterable<string>): {
    readonly hold: FolderHold;
    readonly errors: ReadonlyMap<string, DrayError>;
  };
  release(hold: FolderHold): void;
  /** Whether the folder exists, without links in its path. Throws `unsafePath` for a link. */
  exists(folder: string): boolean;
  /** Removes an empty folder. Throws `conflict` when it is not empty or held. */
  remove(folder: string): void;
  /** Removes the folder and its parents as long as they are empty. */
  prune(folder: string): void;
}

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/**
 * Folders remembered between writes: trees are written folder by folder, and a forgotten folder is checked
 * again.
 */
const KNOWN_MAX = 10_000;

/**
 * FAT, NTFS and SMB servers also find `.dray` by a short name (DRAY~1, or DRAY), whatever system mounts them.
 */
const MAY_BE_SHORT_NAME = /~|^dray$/i;

/**
 * @param watchful Opens folders that others change concurrently: then nothing is remembered between calls.
 */
export function openFolders(
  root: string,
  watchful?: TreeReach,
  modeOf?: TreeWriterOptions['folderModeOf'],
): Folders {
  const reach = watchful ?? plainReach(root);
  const inodes = new Map<string, number>();
  const holds = createHolds();

  /** The folder's inode, or `undefined` when it does not exist and is not to be created. */
  function find(folder: string, isMade: boolean): number | undefined {
    const known = inodes.get(folder);
    if (known !== undefined) return known;
    if (folder !== '' && find(parentOf(folder), isMade) === undefined) return undefined;
    const absolute = folder === '' ? root : reach.absoluteOf(folder);
    // The root itself may be reached through a link: the user named it.
    let stat =
      folder === ''
        ? lstatRoot(watchful ? reach.absoluteOf('') : root)
        : lstatSync(absolute, { throwIfNoEntry: false });
    if (stat === undefined && isMade) stat = makeOne(absolute, modeOf?.(folder));
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) throw linkInTheWay(folder);
    if (!stat.isDirectory()) {
      if (isMade) throw fileInTheWay(folder);
      return undefined;
    }
    if (isWorkspaceFolder(reach, folder))
      throw unsafePath(folder, 'it is another name of .dray, the folder of a workspace');
    if (inodes.size >= KNOWN_MAX) inodes.clear();
    inodes.set(folder, stat.ino);
    return stat.ino;
  }

  function findTranslated(folder: string, isMade: boolean): number | undefined {
    return attemptWrite(folder, () => find(folder, isMade));
  }

  function tryRemove(folder: string): boolean {
    const inode = findTranslated(folder, false);
    if (inode === undefined) return false;
    if (holds.has(inode)) return false;
    try {
      rmdirSync(reach.absoluteOf(folder));
    } catch (error) {
      if (isNotEmpty(error)) return false;
      throw writeError(error, folder);
    }
    inodes.clear();
    return true;
  }

  /** One call of the caller. */
  function once<T>(work: () => T): T {
    if (watchful) inodes.clear();
    try {
      return work();
    } finally {
      reach.release();
    }
  }

  return {
    make: (folder) => once(() => void findTranslated(folder, true)),
    exists: (folder) => once(() => findTranslated(folder, false) !== undefined),
    holdParents: (paths) => once(() => holds.parentsOf(paths, (folder) => findTranslated(folder, true)!)),
    release: holds.release,
    remove: (folder) =>
      once(() => {
        if (findTranslated(folder, false) !== undefined && !tryRemove(folder)) throw folderInTheWay(folder);
      }),
    prune: (folder) =>
      once(() => {
        for (let at = folder; at !== '' && tryRemove(at); at = parentOf(at));
      }),
  };
}

/** Whether the folder is another name of the `.dray` beside it. */
function isWorkspaceFolder(reach: TreeReach, folder: string): boolean {
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  if (!MAY_BE_SHORT_NAME.test(name)) return false;
  const parent = parentOf(folder);
  const own = identityOf(reach.absoluteOf(parent === '' ? '.dray' : `${parent}/.dray`));
  if (own === 'absent') return false;
  const absolute = reach.absoluteOf(folder);
  // Without usable ids, a name that is found but not listed is a second name.
  return own === undefined ? !isListed(dirname(absolute), name) : identityOf(absolute) === own;
}

/** Counts the writes in flight in each folder, by inode. */
function createHolds() {
  const held = new Map<number, number>();
  return {
    has: (inode: number) => held.has(inode),
    /** @param inodeOf Creates the folder if needed. */
    parentsOf(paths: Iterable<string>, inodeOf: (folder: string) => number) {
      const hold: number[] = [];
      const errors = new Map<string, DrayError>();
      let last: string | undefined;
      let lastError: DrayError | undefined;
      for (const path of paths) {
        const parent = parentOf(path);
        if (parent !== last) {
          last = parent;
          lastError = undefined;
          try {
            const inode = inodeOf(parent);
            held.set(inode, (held.get(inode) ?? 0) + 1);
            hold.push(inode);
          } catch (error) {
            lastError = writeError(error, path);
          }
        }
        if (lastError) errors.set(path, lastError);
      }
      return { hold, errors };
    },
    release(hold: FolderHold): void {
      for (const inode of hold) {
        const count = held.get(inode)! - 1;
        if (count === 0) held.delete(inode);
        else held.set(inode, count);
      }
    },
  };
}

/** The full id: as numbers, ids of neighbors on NTFS may be equal. Undefined when the id is unusable. */
function identityOf(absolute: string): string | undefined {
  const stats = lstatSync(absolute, { bigint: true, throwIfNoEntry: false });
  return stats ? identityFrom({ path: absolute, ...stats }) : 'absent';
}

function isListed(absolute: string, name: string): boolean {
  const folded = foldName(name);
  return readdirSync(absolute).some((one) => foldName(one) === folded);
}

function lstatRoot(root: string): Stats {
  // The slash makes the system follow a link to the root.
  const stat = lstatSync(`${root}/`, { throwIfNoEntry: false });
  if (stat) return stat;
  throw new DrayError('notFound', `The folder ${root} does not exist.`, { data: { path: root } });
}

function makeOne(absolute: string, mode: number | undefined): Stats {
  try {
    mkdirSync(absolute, mode);
  } catch (error) {
    // Another process may have created it just now; the caller then checks what it is.
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  return lstatSync(absolute);
}

function isNotEmpty(error: unknown): boolean {
  const errno = errnoOf(error);
  // EEXIST: POSIX allows it for a folder that is not empty; EBUSY: a mount point.
  return errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'EBUSY';
}
