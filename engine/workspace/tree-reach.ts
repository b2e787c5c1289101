/**
 * The way to what lies in a tree, by paths relative to its root.
 *
 * `plainReach` joins names, for trees that nobody else changes meanwhile. `heldReach` is for folders that others write in too, as those
 * that are served: the folder above is opened, seen to be where its path says with every part of it real, and then reached by its
 * descriptor. A link that appears in its place after that leads nothing away. Where the system cannot do so (no `/proc`), the path is looked at
 * right before its use.
 */
import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { errnoOf, unsafePath } from './tree-writer-error.ts';

export interface TreeReach {
  /** Leads to the file or folder, which may be absent, until `release` or the next call. @throws DrayError `unsafePath`; Node's errors. */
  absoluteOf(path: string): string;
  /** Lets go of the folder that was asked for last. */
  release(): void;
}

export function plainReach(root: string): TreeReach {
  return { absoluteOf: (path) => `${root}/${path}`, release: () => {} };
}

/** What lies in a folder, '' for itself. The system's own root ends in a slash already, and with two it would be known to nobody. */
export function absoluteIn(folder: string, path: string): string {
  if (path === '') return folder;
  return folder.endsWith('/') || folder.endsWith(sep) ? folder + path : `${folder}/${path}`;
}

/** Whether no part of what is there is a link. @throws Node's errors, when nothing is. */
export function isReal(absolute: string): boolean {
  return realpathSync(absolute) === absolute.replaceAll('/', sep);
}

/** @param root With all links resolved. */
export function heldReach(root: string): TreeReach {
  return process.platform === 'linux' ? reachByDescriptor(root) : reachByLooking(root);
}

const FOLDER_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

function reachByDescriptor(root: string): TreeReach {
  let held: { readonly folder: string; readonly fd: number } | undefined;
  const release = () => {
    if (held) closeSync(held.fd);
    held = undefined;
  };
  return {
    absoluteOf(path) {
      const [folder, name] = splitPath(path);
      if (held?.folder !== folder) {
        release();
        held = { folder, fd: openFolder(root, folder) };
      }
      return `/proc/self/fd/${held!.fd}/${name}`;
    },
    release,
  };
}

function openFolder(root: string, folder: string): number {
  const absolute = absoluteIn(root, folder);
  let fd: number;
  try {
    fd = openSync(absolute, FOLDER_FLAGS);
  } catch (error) {
    // A link is ELOOP, or ENOTDIR for the sake of O_DIRECTORY.
    if (errnoOf(error) === 'ELOOP' || errnoOf(error) === 'ENOTDIR') throw leadsAway(folder);
    throw error;
  }
  if (readlinkSync(`/proc/self/fd/${fd}`) === absolute) return fd;
  closeSync(fd);
  throw leadsAway(folder);
}

function reachByLooking(root: string): TreeReach {
  return {
    absoluteOf(path) {
      const [folder] = splitPath(path);
      if (!isReal(absoluteIn(root, folder))) throw leadsAway(folder);
      return absoluteIn(root, path);
    },
    release: () => {},
  };
}

function splitPath(path: string): readonly [folder: string, name: string] {
  const slash = path.lastIndexOf('/');
  return [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
}

function leadsAway(folder: string) {
  return unsafePath(folder, 'a symbolic link or a file lies on the way');
}
