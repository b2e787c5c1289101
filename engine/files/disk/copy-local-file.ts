/**
 * Copies one file between two folders of this machine: by reflink where the file system supports it. The copy
 * takes its name in one step.
 */

import {
  chmodSync,
  closeSync,
  constants,
  ftruncateSync,
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
import { isSparse } from '../../model/is-sparse.ts';
import { tokenOf } from '../read/file-source.ts';
import {
  attemptRead,
  checkUnchanged,
  FileFailure,
  type OpenFile,
  openFile,
  readError,
  readStatOf,
} from '../read/open-file.ts';
import { FILE_MODE_BITS } from '../scan/local-place.ts';
import { type PlaceOutcome, putInPlaceOrRemove } from '../write/put-in-place.ts';
import type { WrittenStat } from '../write/tree-writer-types.ts';
import { folderInTheWay, writeError } from '../write/write-error.ts';
import { zeroRuns } from '../write/write-sparse.ts';
import { type DiskRefusals, type FileAttributes, setAttributes } from './disk-refusals.ts';
import { loadSetMtime, type SetMtime } from './set-mtime.ts';
import { syncContent } from './sync-disk.ts';

export interface LocalCopy {
  readonly from: string;
  readonly to: string;
  /** An unused name on the file system of `to`. */
  readonly temporary: string;
  readonly signal: AbortSignal;
  /** Counts what the destination's disk does not keep. */
  readonly refusals?: DiskRefusals | undefined;
  /** Called after each block of a large file. */
  readonly onProgress?: (bytes: number) => void;
}

export interface LocalCopied {
  readonly stat: WrittenStat;
  /** Identifies the source's content that was copied. */
  readonly sourceToken: string;
  readonly sizeBytes: number;
}

/** Files up to this size are copied by blocking calls, which take less time than a thread of libuv. */
const BLOCKING_BYTES_MAX = 256 * 1024;
const BLOCK_BYTES = 4 * 1024 * 1024;
/** The size from which a download writes in pieces. */
const SYNCED_BYTES_MIN = 32 * 1024 * 1024;
const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
const readAt = promisify(read);
const writeAt = promisify(write);
/** No other user can read an unfinished copy. */
const OWN_MODE = 0o600;
let setMtime: SetMtime | undefined;

/**
 * Copies content, modification time and permissions (`FILE_MODE_BITS`, regardless of the umask). The parent
 * folder of `to` must exist. Replaces a file, a link or an empty folder at `to`.
 * @throws DrayError `io` (of the source, with `data.reason` as file readers have it), `diskFull`, `conflict`
 * for a folder in the way, `aborted`. Nothing is left behind then.
 */
export async function copyLocalFile(copy: LocalCopy): Promise<LocalCopied> {
  const { from, signal, temporary, to } = copy;
  setMtime ??= await loadSetMtime();
  checkAborted(signal);
  const source = attemptRead(from, () => openFile(from, { mayBeUnsized: true }));
  try {
    const stat = readStatOf(source);
    try {
      const copiedBytes = await copyContent(source, copy);
      checkAborted(signal);
      attemptRead(from, () => checkSame(source, from, copiedBytes));
      await syncLarge(temporary, copiedBytes);
      finishTemporary(copy, { mtimeNs: stat.mtimeNs, mode: Number(source.stats.mode) & FILE_MODE_BITS });
      const placed = replaceWhatIsThere(temporary, to);
      if (!('stat' in placed)) throw folderInTheWay(to);
      return { stat: placed.stat, sourceToken: tokenOf(stat), sizeBytes: copiedBytes };
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
    // The reflink has the mode of its source, which may deny access even to its owner.
    chmodSync(temporary, OWN_MODE);
    return lstatSync(temporary).size;
  } catch {
    withoutReflinks.add(pair);
    rmSync(temporary, { force: true });
    return copyBytes(source, copy);
  }
}

/**
 * The pairs of places between which a reflink has failed, as the source's device and the target's folder. It
 * holds at most one entry for each pair of this process.
 */
const withoutReflinks = new Set<string>();

/**
 * Node's `copyFile` cannot be stopped. It also loops for ever when the source becomes shorter during the
 * copy: it asks sendfile for the missing bytes again and again (Node 24.21, libuv 1.52).
 */
async function copyBytes(source: OpenFile, copy: LocalCopy): Promise<number> {
  const { descriptor, stats } = source;
  const target = openSync(copy.temporary, 'wx', OWN_MODE);
  try {
    if (stats.size > BLOCKING_BYTES_MAX || source.isUnsized) return await copyBlocks(source, target, copy);
    const bytes = Buffer.allocUnsafe(Number(stats.size) + 1);
    const length = attemptRead(copy.from, () => readSync(descriptor, bytes, 0, bytes.length, 0));
    writeFully(target, bytes.subarray(0, length), 0);
    return length;
  } finally {
    closeSync(target);
  }
}

async function copyBlocks(
  { descriptor, stats }: OpenFile,
  target: number,
  { from, onProgress, signal }: LocalCopy,
): Promise<number> {
  const keepsHoles = isSparse({ sizeBytes: Number(stats.size), blocks: Number(stats.blocks) });
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let position = 0; ; ) {
    checkAborted(signal);
    const { bytesRead } = await readAt(descriptor, block, 0, BLOCK_BYTES, position).catch((cause) => {
      throw readError(from, cause);
    });
    if (bytesRead === 0) {
      if (keepsHoles) ftruncateSync(target, position);
      return position;
    }
    let written = 0;
    for (const [start, end] of keepsHoles ? zeroRuns(block.subarray(0, bytesRead), position) : []) {
      await writeBlock(target, block.subarray(written, start), position + written);
      written = end;
    }
    await writeBlock(target, block.subarray(written, bytesRead), position + written);
    position += bytesRead;
    onProgress?.(bytesRead);
  }
}

async function writeBlock(target: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const length = Math.min(bytes.length - done, ASYNC_WRITE_BYTES_MAX);
    const { bytesWritten } = await writeAt(target, bytes, done, length, position + done);
    done += bytesWritten;
  }
}

/** Replaces a file, a link or an empty folder. */
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

/** Checks that the file is unchanged and still has its name, because a reflink is made by name. */
function checkSame(source: OpenFile, from: string, copiedBytes: number): void {
  checkUnchanged(source, copiedBytes);
  const now = lstatSync(from, { bigint: true, throwIfNoEntry: false });
  if (now?.ino !== source.stats.ino || now.dev !== source.stats.dev)
    throw new FileFailure('changedWhileRead');
}

/** Call it before the file gets its time. Where the system has `syncfs`, that covers small files. */
async function syncLarge(path: string, sizeBytes: number): Promise<void> {
  if (sizeBytes < SYNCED_BYTES_MIN && process.platform === 'linux') return;
  await using file = await open(path, 'r+');
  await syncContent(file.fd);
}

function finishTemporary({ refusals, temporary }: LocalCopy, { mode, mtimeNs }: FileAttributes): void {
  const fd = openSync(temporary, READ_FLAGS);
  const wanted = process.platform === 'win32' ? { mtimeNs } : { mode, mtimeNs };
  try {
    setAttributes(fd, wanted, { refusals, setMtime: setMtime! });
  } finally {
    closeSync(fd);
  }
}
