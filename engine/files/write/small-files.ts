/** Small files, whole: verified, written to a temporary file and put in place in one step. */
import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, type Stats, unlinkSync } from 'node:fs';
import { type DrayError, type ErrorRecord, toErrorRecord } from '../../api/error.ts';
import { writeFully } from '../../base/write-fully.ts';
import { decompressBlob } from '../../compression/zstd-blob.ts';
import { modeBits } from '../../model/special-modes.ts';
import { setAttributes } from '../disk/disk-refusals.ts';
import type { NamelessFiles } from './nameless-file.ts';
import { type PlaceOutcome, putInPlaceOrRemove, writtenStat } from './put-in-place.ts';
import type { PackedFile } from './tree-writer-types.ts';
import { contentDiffers, damagedFile, writeError } from './write-error.ts';
import { writeSparse } from './write-sparse.ts';
import type { WriteThread } from './writer-thread.ts';

export type FileOutcome = PlaceOutcome | { readonly error: ErrorRecord };

const OWN_MODE = 0o600;
const SPARSE_BYTES_MIN = 1024 * 1024;
const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** @param bytes The received bytes; this function compares them with the item's blob, if it has one. */
export function writeSmallFile(thread: WriteThread, item: PackedFile, bytes: Uint8Array): FileOutcome {
  const { sizeBytes, storedBytes } = item;
  if (bytes.length !== (storedBytes ?? sizeBytes))
    return failed(damagedFile(item.path, 'the received bytes end too early'));
  const content = storedBytes === undefined ? bytes : decompressBlob(bytes, sizeBytes);
  if (!content) return failed(damagedFile(item.path, 'the received bytes do not decompress to its size'));
  if (item.blob !== undefined && hash('sha256', content, 'hex') !== item.blob)
    return failed(contentDiffers(item.path, item.blob));
  try {
    return thread.nameless
      ? writeNameless(thread, thread.nameless, item, content)
      : writeNamed(thread, item, content);
  } catch (error) {
    return failed(writeError(error, item.path));
  }
}

/** Leaves nothing on failure: a file without a name disappears when it is closed. */
function writeNameless(
  thread: WriteThread,
  nameless: NamelessFiles,
  item: PackedFile,
  content: Uint8Array,
): PlaceOutcome {
  const absolute = thread.reach.absoluteOf(item.path);
  const { mode } = item;
  const fd = nameless.open(absolute.slice(0, absolute.lastIndexOf('/')), mode ?? modeOf(item));
  try {
    writeContent(thread, fd, content);
    // Usually the file has its mode from its creation.
    const isModeSet = mode === undefined || (mode & (thread.umask | ~0o777)) === 0;
    setAttributes(fd, isModeSet ? { mtimeNs: item.mtimeNs } : item, thread);
    if (!nameless.link(fd, absolute)) {
      setAttributes(fd, { mode }, thread);
      return replaceBy(thread, nameless, fd, absolute);
    }
    return { stat: writtenStat(withMode(thread, fd, mode)) };
  } finally {
    closeSync(fd);
  }
}

/** Holes that are worth keeping are larger than the smallest of these files. */
function writeContent({ punchHole }: WriteThread, fd: number, content: Uint8Array): void {
  if (content.length < SPARSE_BYTES_MIN) writeFully(fd, content, 0);
  else writeSparse({ fd, punch: punchHole }, content, 0);
}

/** A folder's default ACL may have removed some bits when the file was created. */
function withMode(thread: WriteThread, fd: number, mode: number | undefined): Stats {
  const stats = fstatSync(fd);
  if (mode === undefined || modeBits(stats.mode) === mode) return stats;
  setAttributes(fd, { mode }, thread);
  return fstatSync(fd);
}

/** Something is in the way, usually the old file: only a rename replaces it, and that needs a name. */
function replaceBy(thread: WriteThread, nameless: NamelessFiles, fd: number, absolute: string): PlaceOutcome {
  const temporary = thread.temporaryPrefix + thread.nextName++;
  if (!nameless.link(fd, temporary)) throw new Error(`it could not be linked to ${temporary}`);
  return putInPlaceOrRemove(temporary, absolute);
}

function writeNamed(thread: WriteThread, item: PackedFile, content: Uint8Array): PlaceOutcome {
  const temporary = thread.temporaryPrefix + thread.nextName++;
  // A given mode is set after the write; until then only the owner can read the file.
  const fd = openSync(temporary, CREATE_NEW, item.mode === undefined ? modeOf(item) : OWN_MODE);
  try {
    try {
      writeContent(thread, fd, content);
      setAttributes(fd, item, thread);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
  return putInPlaceOrRemove(temporary, thread.reach.absoluteOf(item.path));
}

/** The kernel applies the umask, as for every program. */
function modeOf(item: PackedFile): number {
  return item.executable ? 0o777 : 0o666;
}

function failed(error: DrayError): FileOutcome {
  return { error: toErrorRecord(error) };
}
