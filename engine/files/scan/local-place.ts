/** Single files and links of a local tree, by path. Links below the root are never followed. */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { OPEN_TO_READ } from '../../base/open-to-read.ts';
import { isSparse } from '../../model/is-sparse.ts';
import { modeBits } from '../../model/special-modes.ts';
import { fileToken, type TreeItem } from '../../model/tree-item.ts';
import { type DiskRefusals, setAttributes } from '../disk/disk-refusals.ts';
import { loadSetMtime, type SetMtime } from '../disk/set-mtime.ts';
import { attemptRead, isRacy, readError } from '../read/open-file.ts';
import { statWritten } from '../write/put-in-place.ts';
import type { WrittenStat } from '../write/tree-writer-types.ts';
import { errnoOf, unsafePath, writeError } from '../write/write-error.ts';
import { plainReach, type TreeReach } from './tree-reach.ts';

/** The suffix of objects that stand for symbolic links, as in rclone (its --links). */
export const LINK_SUFFIX = '.rclonelink';

/** The stat fields that a scan and `lstat` share. */
export interface FileStat {
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
}

/**
 * Leaves out `mtimeNs`: the exact time makes `lstat` a third slower and a scan a fifth, and few items need it
 * (`exactMtimeNs`).
 * @param nowMs An mtime from this time on is too young to identify the content.
 */
export function itemOf(path: string, stat: FileStat, nowMs: number): TreeItem {
  const { inode, mtimeMs: modifiedMs, sizeBytes } = stat;
  return isRacy(modifiedMs, nowMs)
    ? { path, kind: 'file', sizeBytes, token: '', inode, modifiedMs }
    : { path, kind: 'file', sizeBytes, token: fileToken(stat), modifiedMs };
}

/**
 * The file at a path below the root, or with `links` the link. With `modes` it has its mode. 'other':
 * something else, or a link in the path.
 * @throws DrayError `io`.
 */
export function statLocal(
  root: string,
  path: string,
  { links = false, modes = false }: { readonly links?: boolean; readonly modes?: boolean } = {},
): TreeItem | 'folder' | 'other' | undefined {
  const stats = lstatOf(`${root}/${path}`);
  if (linkAbove(root, path) !== undefined) return 'other';
  if (!stats) return undefined;
  if (stats.isDirectory()) return 'folder';
  if (!stats.isFile() && !(links && stats.isSymbolicLink())) return 'other';
  const { ctimeMs, ino: inode, mtimeMs, size: sizeBytes } = stats;
  const item = itemOf(path, { sizeBytes, mtimeMs, ctimeMs, inode }, Date.now());
  return modes && stats.isFile() ? { ...item, ...knownMode(stats.mode & FILE_MODE_BITS) } : item;
}

/**
 * The folder at a path that is '' or ends in `/`; undefined when it does not exist or a link is in the path.
 * The root may be a link.
 */
export function statLocalFolder(root: string, path: string): TreeItem | undefined {
  const name = path.slice(0, -1);
  const stats = path === '' ? lstatOf(`${root}/`) : lstatOf(`${root}/${name}`);
  if (!stats?.isDirectory() || linkAbove(root, name) !== undefined) return undefined;
  return folderItem({ path, mtimeMs: stats.mtimeMs, mode: modeBits(stats.mode), holds: true });
}

/** The mode bits that a copy between folders of this machine keeps: no set-uid, set-gid or sticky bit. */
export const FILE_MODE_BITS = 0o777;

/**
 * The mode of a folder's copy while it is filled: no more open to others than the folder itself, and open to
 * its owner. Undefined when the folder does not exist.
 */
export function newFolderMode(folder: string): number | undefined {
  const stats = lstatOf(folder);
  return stats?.isDirectory() ? (stats.mode & FILE_MODE_BITS) | OWNER_BITS : undefined;
}

const OWNER_BITS = 0o700;

/** A folder in the form of scans and lookups. Its path is '' or ends in `/`. */
export function folderItem({
  holds,
  mode,
  mtimeMs,
  path,
}: {
  readonly path: string;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly holds?: true | undefined;
}): TreeItem {
  const special = { kind: 'folder', ...(holds ? { holds } : {}) } as const;
  return { path, kind: 'file', sizeBytes: 0, token: '', modifiedMs: mtimeMs, ...knownMode(mode), special };
}

/** Modes of Windows mean nothing elsewhere. */
export function knownMode(mode: number): Pick<TreeItem, 'mode'> {
  return process.platform === 'win32' ? {} : { mode };
}

/** The first folder of the path that is a link. */
export function linkAbove(root: string, path: string): string | undefined {
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const folder = path.slice(0, slash);
    if (lstatOf(`${root}/${folder}`)?.isSymbolicLink()) return folder;
  }
  return undefined;
}

export type PlaceKind = 'file' | 'folder' | 'absent' | 'other';

/** The kind of the user's own path. Links are followed, since the user named them. */
export function localPlaceKind(path: string): PlaceKind {
  const found = lstatOf(path);
  if (!found) return 'absent';
  const stats = found.isSymbolicLink()
    ? attempt(path, () => statSync(path, { throwIfNoEntry: false }))
    : found;
  if (stats?.isDirectory()) return 'folder';
  return stats?.isFile() ? 'file' : 'other';
}

function lstatOf(path: string): Stats | undefined {
  return attempt(path, () => lstatSync(path, { throwIfNoEntry: false }));
}

/** A file's modification time to the nanosecond, or undefined when it is gone. @throws DrayError `io`. */
export function exactMtimeNs(path: string): bigint | undefined {
  return attempt(path, () => lstatSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs);
}

/** False on a failure: the later read reports it. */
export function isSparseFile(path: string): boolean {
  try {
    const { blocks, size } = lstatSync(path);
    return isSparse({ sizeBytes: size, blocks });
  } catch {
    return false;
  }
}

/** A part of the path is a file, or the system does not allow such names: then nothing exists there. */
const ABSENT = new Set(['ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']);

function attempt<T>(path: string, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (ABSENT.has(errnoOf(error) ?? '')) return undefined;
    throw readError(path, error);
  }
}

/** The content of a link's object: its target. @throws DrayError `io` when there is no such link. */
export function readLink(path: string): Buffer {
  return attemptRead(path, () => readlinkSync(path, 'buffer'));
}

/** The error for a target where targets are sent as text. */
export function targetNotUtf8(path: string): string {
  return `The target of the link ${path} is not UTF-8. Create the link again with a UTF-8 target.`;
}

let setMtime: SetMtime | undefined;

export interface LocalTouch {
  readonly mtimeNs?: bigint;
  readonly mode?: number;
  /** Counts what the disk does not keep. */
  readonly refusals?: DiskRefusals | undefined;
}

export interface TouchedFile {
  readonly stat: WrittenStat;
  /** The disk does not keep what was to be set. */
  readonly isUnchanged: boolean;
}

/**
 * Sets the modification time of a file below the root, its permission bits, or both.
 * @throws DrayError `unsafePath` for a link in its path and for anything but a regular file, `io`.
 */
export async function touchLocal(
  root: string,
  path: string,
  { mode, mtimeNs, refusals }: LocalTouch,
  held?: TreeReach,
): Promise<TouchedFile> {
  setMtime ??= await loadSetMtime();
  const reach = held ?? plainReach(root);
  const link = held ? undefined : linkAbove(root, path);
  if (link !== undefined) throw unsafePath(path, `${link} is a symbolic link where a folder has to be`);
  try {
    const absolute = reach.absoluteOf(path);
    const fd = openSync(absolute, OPEN_TO_READ);
    try {
      const before = fstatSync(fd);
      if (!before.isFile()) throw unsafePath(path, 'it is no regular file');
      setAttributes(fd, { mode, mtimeNs }, { refusals, setMtime });
      const after = fstatSync(fd);
      const isUnchanged = before.mode === after.mode && before.mtimeMs === after.mtimeMs;
      return { stat: statWritten(absolute), isUnchanged };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw writeError(error, path);
  } finally {
    reach.release();
  }
}
