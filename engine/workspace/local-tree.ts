/** A local folder as a tree of items; `scan.ts` walks it. Links are never followed. */
import { closeSync, constants, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { checkAborted } from '../base/abort.ts';
import { comparePaths } from '../model/entry.ts';
import { fileToken, type TreeItem } from '../model/tree-item.ts';
import { isRacy } from './file-reader-open.ts';
import { type ScannedEntry, type ScanProblem, scanWorkspace } from './scan.ts';
import { loadSetMtime, type SetMtime } from './set-mtime.ts';
import type { WrittenStat } from './tree-writer-contract.ts';
import { writeError } from './tree-writer-error.ts';
import { statWritten } from './tree-writer-place.ts';

/** What is left out, and why. */
export interface LeftOut {
  readonly path: string;
  readonly problem: ScanProblem['problem'] | 'link';
  readonly message: string;
}

export interface LocalTreeOptions {
  readonly root: string;
  /** Whether to look into a folder; its path ends in `/`. */
  readonly enter?: (folder: string) => boolean;
  readonly includes?: (item: TreeItem) => boolean;
  /** Give links as well, under their names with `LINK_SUFFIX`. */
  readonly links?: boolean;
  readonly nowMs: number;
  readonly batchSize?: number;
  readonly signal: AbortSignal;
  readonly onProblem: (problem: LeftOut) => void;
}

/** Ends the names of objects that stand for symbolic links, as rclone has it (its --links). */
export const LINK_SUFFIX = '.rclonelink';

/**
 * In order. Empty folders are no items. The event loop runs between batches.
 * @throws `notFound` when the root is no folder, `io` when it cannot be read, `aborted`.
 */
export async function* scanLocalTree(options: LocalTreeOptions): AsyncGenerator<readonly TreeItem[]> {
  const { batchSize, enter, includes, links = false, nowMs, onProblem, root, signal } = options;
  const scan = scanWorkspace({
    root,
    ignore: false,
    isPlain: true,
    ...(enter ? { enter } : {}),
    ...(batchSize === undefined ? {} : { batchSize }),
  });
  // With its suffix a link may come after siblings that its own name comes before.
  let later: TreeItem[] = [];
  for (const { entries, problems } of scan) {
    checkAborted(signal);
    for (const problem of problems) onProblem(problem);
    const items: TreeItem[] = [];
    for (const entry of entries) {
      if (entry.kind === 'folder') continue;
      if (entry.kind === 'link' && !links) {
        tellLink(entry, includes, onProblem);
        continue;
      }
      const item = toItem(entry, nowMs);
      if (includes && !includes(item)) continue;
      if (entry.kind === 'link') {
        later.push(item);
        continue;
      }
      if (later.length > 0) later = takeBefore(later, item.path, items);
      items.push(item);
    }
    if (items.length > 0) yield items;
    await breathe();
  }
  if (later.length > 0) yield later.sort((left, right) => comparePaths(left.path, right.path));
}

/** Moves what comes before the path to `into`, in order, and gives the rest. */
function takeBefore(items: readonly TreeItem[], path: string, into: TreeItem[]): TreeItem[] {
  const due = items.filter((item) => comparePaths(item.path, path) < 0);
  into.push(...due.sort((left, right) => comparePaths(left.path, right.path)));
  return items.filter((item) => comparePaths(item.path, path) >= 0);
}

function tellLink(
  entry: ScannedEntry,
  includes: LocalTreeOptions['includes'],
  onProblem: LocalTreeOptions['onProblem'],
): void {
  const { path } = entry;
  if (includes && !includes(toItem(entry, 0))) return;
  onProblem({
    path,
    problem: 'link',
    message: `${path} is a symbolic link and was left out (--links keeps links).`,
  });
}

function toItem(entry: ScannedEntry, nowMs: number): TreeItem {
  const { ctimeMs, inode, kind, mtimeMs, path, sizeBytes } = entry;
  return {
    path: kind === 'link' ? path + LINK_SUFFIX : path,
    kind: 'file',
    sizeBytes,
    token: isRacy(mtimeMs, nowMs) ? '' : fileToken({ sizeBytes, mtimeMs, ctimeMs, inode }),
    modifiedMs: mtimeMs,
  };
}

const NO_THROW = { throwIfNoEntry: false } as const;

/** The file at a path below the root, or with `links` the link. Anything else that is no file is 'other'. */
export function statLocal(
  root: string,
  path: string,
  { links = false }: { readonly links?: boolean } = {},
): TreeItem | 'folder' | 'other' | undefined {
  const stats = lstatOf(`${root}/${path}`);
  if (!stats) return undefined;
  if (stats.isDirectory()) return 'folder';
  if (!stats.isFile() && !(links && stats.isSymbolicLink())) return 'other';
  const { ctimeMs, ino: inode, mtimeMs, size: sizeBytes } = stats;
  return toItem({ path, kind: 'file', sizeBytes, mtimeMs, ctimeMs, inode, executable: false }, Date.now());
}

export type PlaceKind = 'file' | 'folder' | 'absent' | 'other';

/** What a link's object holds. @throws DrayError `io` when there is no such link. */
export function readLink(path: string): Uint8Array {
  try {
    return Buffer.from(readlinkSync(path));
  } catch (error) {
    throw writeError(error, path);
  }
}

/** What the user's own path leads to: here links are followed, since the user named them. */
export function localPlaceKind(path: string): PlaceKind {
  const found = lstatOf(path);
  if (!found) return 'absent';
  const stats = found.isSymbolicLink() ? lstatOf(`${path}/`) : found;
  if (stats?.isDirectory()) return 'folder';
  return stats?.isFile() ? 'file' : 'other';
}

/** A part of the path may be a file, and then nothing lies below it. */
function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, NO_THROW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw writeError(error, path);
  }
}

/** A file's modification time to the nanosecond, which a scan's double is not good for. */
export function exactMtimeNs(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
}

let setMtime: SetMtime | undefined;

/** Sets the modification time of a file below the root; nothing is followed. */
export async function touchLocal(root: string, path: string, mtimeNs: bigint): Promise<WrittenStat> {
  setMtime ??= await loadSetMtime();
  const absolute = `${root}/${path}`;
  try {
    const fd = openSync(absolute, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      setMtime(fd, mtimeNs);
    } finally {
      closeSync(fd);
    }
    return statWritten(absolute);
  } catch (error) {
    throw writeError(error, path);
  }
}
