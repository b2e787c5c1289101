/**
 * One file from a folder to another on this machine: by reflink where the file system can, put in place in
 * one step.
 */

import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  openSync,
  read,
  readSync,
  rmdirSync,
  rmSync,
  write,
} from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { checkAborted } from '../../base/abort.ts';
import { ASYNC_WRITE_BYTES_MAX, writeFully } from '../../base/write-fully.ts';
import { tokenOf } from '../read/file-source.ts';
import {
  attemptRead,
  checkUnchanged,
  FileFailure,
  type OpenFile,
  openFile,
  readStatOf,
} from '../read/open-file.ts';
import { FILE_MODE_BITS } from '../scan/local-place.ts';
import { type PlaceOutcome, putInPlaceOrRemove } from '../write/put-in-place.ts';
import type { WrittenStat } from '../write/tree-writer-types.ts';
import { folderInTheWay, writeError } from '../write/write-error.ts';
import { loadSetMtime, type SetMtime } from './set-mtime.ts';
import { syncContent } from './sync-disk.ts';

export interface LocalCopy {
  readonly from: string;
  readonly to: string;
  /** A name that nothing else has, on the file system of `to`. */
  readonly temporary: string;
  readonly signal: AbortSignal;
  /** Called after each block of a large file. */
  readonly onProgress?: (bytes: number) => void;
}

export interface LocalCopied {
  readonly stat: WrittenStat;
  /** The token of the source as it was copied. */
  readonly sourceToken: string;
  readonly sizeBytes: number;
}

/** Copied by blocking calls: a thread's turn would take longer. */
const BLOCKING_BYTES_MAX = 256 * 1024;
const BLOCK_BYTES = 4 * 1024 * 1024;
/** The size from which a download writes in pieces. */
const SYNCED_BYTES_MIN = 32 * 1024 * 1024;
const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
const readAt = promisify(read);
const writeAt = promisify(write);
/** Nobody else reads a copy before it has the permissions of its source. */
const OWN_MODE = 0o600;
let setMtime: SetMtime | undefined;

/**
 * Content, modification time and permissions (`FILE_MODE_BITS`), whatever the umask. The parent folder of
 * `to` is there. A file or link at `to` is replaced.
 * @throws DrayError `io` (of the source, with `data.reason` as file readers have it), `diskFull`, `conflict`
 * for a folder in the way, `aborted`. Nothing is left behind then.
 */
export async function copyLocalFile(copy: LocalCopy): Promise<LocalCopied> {
  const { from, signal, temporary, to } = copy;
  setMtime ??= await loadSetMtime();
  checkAborted(signal);
  const source = attemptRead(from, () => openFile(from));
  try {
    const stat = readStatOf(source);
    try {
      const copiedBytes = await copyContent(source, copy);
      checkAborted(signal);
      attemptRead(from, () => checkSame(source, from, copiedBytes));
      await syncLarge(temporary, copiedBytes);
      finishTemporary(temporary, stat.mtimeNs, Number(source.stats.mode) & FILE_MODE_BITS);
      const placed = replaceWhatIsThere(temporary, to);
      if (!('stat' in placed)) throw folderInTheWay(to);
      return { stat: placed.stat, sourceToken: tokenOf(stat), sizeBytes: stat.sizeBytes };
    } catch (error) {
      rmSync(temporary, { force: true });
      throw writeError(error, to);
    }
  } finally {
    closeSync(source.descriptor);
  }
}

/** Resolves to the number of bytes. */
async function copyContent(source: OpenFile, copy: LocalCopy): Promise<number> {
  const { from, temporary } = copy;
  const pair = `${source.stats.dev} ${dirname(temporary)}`;
  if (withoutReflinks.has(pair)) return copyBytes(source, copy);
  try {
    await copyFile(from, temporary, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    // It has the mode of its source, which may keep even its owner out.
    chmodSync(temporary, OWN_MODE);
    return lstatSync(temporary).size;
  } catch {
    withoutReflinks.add(pair);
    rmSync(temporary, { force: true });
    return copyBytes(source, copy);
  }
}

/**
 * Where a reflink failed once: a source's device and a folder. One for each pair of places that a process
 * copies between.
 */
const withoutReflinks = new Set<string>();

/**
 * Not by `copyFile`, which cannot be stopped, and which spins in its thread for ever when the source is cut
 * short meanwhile (Node 24.21, libuv 1.52: it asks sendfile for the missing bytes until they come).
 */
async function copyBytes(source: OpenFile, copy: LocalCopy): Promise<number> {
  const { descriptor, stats } = source;
  const target = openSync(copy.temporary, 'wx', OWN_MODE);
  try {
    if (stats.size > BLOCKING_BYTES_MAX) return await copyBlocks(descriptor, target, copy);
    const bytes = Buffer.allocUnsafe(Number(stats.size) + 1);
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    writeFully(target, bytes.subarray(0, length), 0);
    return length;
  } finally {
    closeSync(target);
  }
}

async function copyBlocks(
  descriptor: number,
  target: number,
  { onProgress, signal }: LocalCopy,
): Promise<number> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let position = 0; ; ) {
    checkAborted(signal);
    const { bytesRead } = await readAt(descriptor, block, 0, BLOCK_BYTES, position);
    if (bytesRead === 0) return position;
    for (let done = 0; done < bytesRead; ) {
      const length = Math.min(bytesRead - done, ASYNC_WRITE_BYTES_MAX);
      const { bytesWritten } = await writeAt(target, block, done, length, position + done);
      done += bytesWritten;
    }
    position += bytesRead;
    onProgress?.(bytesRead);
  }
}

/** A file, a link or an empty folder. */
function replaceWhatIsThere(temporary: string, to: string): PlaceOutcome {
  const placed = putInPlaceOrRemove(temporary, to);
  if ('stat' in placed) return placed;
  try {
    rmdirSync(to);
  } catch {
    return placed;
  }
  return putInPlaceOrRemove(temporary, to);
}

/**
 * The name still leads to the file that was opened, and that has not changed: the copy may have been made by
 * the name.
 */
function checkSame(source: OpenFile, from: string, copiedBytes: number): void {
  checkUnchanged(source, copiedBytes);
  const now = lstatSync(from, { bigint: true, throwIfNoEntry: false });
  if (now?.ino !== source.stats.ino || now.dev !== source.stats.dev)
    throw new FileFailure('changedWhileRead');
}

/** Call before the file gets its time. Small files are left to `syncfs` where the system has it. */
async function syncLarge(path: string, sizeBytes: number): Promise<void> {
  if (sizeBytes < SYNCED_BYTES_MIN && process.platform === 'linux') return;
  await using file = await open(path, 'r+');
  await syncContent(file.fd);
}

function finishTemporary(path: string, mtimeNs: bigint, mode: number): void {
  const fd = openSync(path, READ_FLAGS);
  try {
    setMtime!(fd, mtimeNs);
    if (process.platform !== 'win32') fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}
