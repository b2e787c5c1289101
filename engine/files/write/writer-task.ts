/**
 * The work of one thread of the writer. The same code runs in worker threads and, for small jobs, in the
 * caller's.
 */

import { createHash, hash as hashOnce } from 'node:crypto';
import { readSync } from 'node:fs';
import { decompressBlob } from '../../compression/zstd-blob.ts';
import { openBytes, openPieces } from '../../sealing/sealed-content.ts';
import { setAttributes } from '../disk/disk-refusals.ts';
import { type PlaceOutcome, putInPlace } from './put-in-place.ts';
import { type FileOutcome, writeSmallFile } from './small-files.ts';
import type { ExpectedPiece, PackedFile, SealedPiece } from './tree-writer-types.ts';
import { contentDiffers, writeError } from './write-error.ts';
import { writeSparse } from './write-sparse.ts';
import { checkStopped, type WriteThread } from './writer-thread.ts';

export type WriteTask =
  | FilesTask
  | PieceTask
  | AppendTask
  | EndStreamTask
  | HashFileTask
  | SealTask
  | PlaceTask;

/** Small files, whole. Their folders exist and are held. */
export interface FilesTask {
  readonly kind: 'files';
  readonly bytes: Uint8Array;
  /** The difference between the items' offsets and those in `bytes`. */
  readonly bytesStart: number;
  readonly items: readonly PackedFile[];
}
/** A part of a large file. Descriptors belong to the process, so every thread can write to one. */
export interface PieceTask {
  readonly kind: 'piece';
  readonly fd: number;
  readonly path: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly expected?: ExpectedPiece | undefined;
}
/** The next part of a stream: hashed in order, in the one thread that holds the stream's hash. */
export interface AppendTask {
  readonly kind: 'append';
  readonly stream: number;
  readonly fd: number;
  readonly path: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
}
/** Ends a stream and returns its SHA-256. */
export interface EndStreamTask {
  readonly kind: 'digest';
  readonly stream: number;
}
/** Reads a file back. */
export interface HashFileTask {
  readonly kind: 'hashFile';
  readonly fd: number;
  readonly path: string;
}
/** Sets the time of a large file with complete content. Its owner closes it then. */
export interface SealTask {
  readonly kind: 'seal';
  readonly fd: number;
  readonly path: string;
  readonly mtimeNs: bigint;
  readonly mode?: number | undefined;
}
/** Puts a closed temporary file in place. */
export interface PlaceTask {
  readonly kind: 'place';
  readonly temporary: string;
  readonly path: string;
}

export interface TaskResults {
  readonly files: readonly FileOutcome[];
  readonly piece: null;
  readonly append: null;
  readonly digest: string;
  readonly hashFile: string;
  readonly seal: null;
  readonly place: PlaceOutcome;
}

const READ_BLOCK_BYTES = 1024 * 1024;

/** Runs one task. Throws DrayError. */
export function runWriteTask<K extends WriteTask['kind']>(
  thread: WriteThread,
  task: Extract<WriteTask, { kind: K }>,
): TaskResults[K];
export function runWriteTask(thread: WriteThread, task: WriteTask): TaskResults[WriteTask['kind']] {
  checkStopped(thread);
  try {
    return runTask(thread, task);
  } finally {
    thread.reach.release();
  }
}

function runTask(thread: WriteThread, task: WriteTask): TaskResults[WriteTask['kind']] {
  switch (task.kind) {
    case 'files':
      return writeFiles(thread, task);
    case 'piece':
      return writePiece(thread, task);
    case 'append':
      return appendToStream(thread, task);
    case 'digest':
      return endStream(thread, task.stream);
    case 'hashFile':
      return hashFile(thread, task);
    case 'seal':
      return sealLarge(thread, task);
    case 'place':
      return placeLarge(thread, task);
  }
}

function writeFiles(thread: WriteThread, { bytes, bytesStart, items }: FilesTask): FileOutcome[] {
  return items.map((item) => {
    checkStopped(thread);
    const offset = item.offset - bytesStart;
    return writeSmallFile(
      thread,
      item,
      bytes.subarray(offset, offset + (item.storedBytes ?? item.sizeBytes)),
    );
  });
}

function writePiece(thread: WriteThread, task: PieceTask): null {
  const { bytes, expected, path } = task;
  if (!expected) return writeAt(thread, task);
  const { contentBytes, hash, sealed } = expected;
  if (sealed) return writeSealedPiece(thread, task, { expected, sealed });
  const content = contentBytes === undefined ? bytes : decompressBlob(bytes, contentBytes);
  if (!content || hashOnce('sha256', content, 'hex') !== hash) throw contentDiffers(path, hash);
  return writeAt(thread, { ...task, bytes: content });
}

/** Opened, hashed and written piece by piece, each still in the processor's cache. */
function writeSealedPiece(
  thread: WriteThread,
  task: PieceTask,
  { expected, sealed }: { readonly expected: ExpectedPiece; readonly sealed: SealedPiece },
): null {
  const { object } = sealed;
  const { bytes, offset, path } = task;
  const { contentBytes, hash } = expected;
  if (contentBytes !== undefined) {
    const opened = openBytes(object, bytes, bytes).content;
    return writePiece(thread, { ...task, bytes: opened, expected: { hash, contentBytes } });
  }
  const sum = createHash('sha256');
  openPieces(object, bytes, (piece, at) => {
    sum.update(piece);
    writeAt(thread, { ...task, bytes: piece, offset: offset + at });
  });
  if (sum.digest('hex') !== hash) throw contentDiffers(path, hash);
  return null;
}

function appendToStream(thread: WriteThread, task: AppendTask): null {
  let hash = thread.streams.get(task.stream);
  if (!hash) {
    hash = createHash('sha256');
    thread.streams.set(task.stream, hash);
  }
  hash.update(task.bytes);
  return writeAt(thread, task);
}

function endStream(thread: WriteThread, stream: number): string {
  const hash = thread.streams.get(stream) ?? createHash('sha256');
  thread.streams.delete(stream);
  return hash.digest('hex');
}

function writeAt({ punchHole }: WriteThread, task: PieceTask | AppendTask): null {
  try {
    writeSparse({ fd: task.fd, punch: punchHole }, task.bytes, task.offset);
    return null;
  } catch (error) {
    throw writeError(error, task.path);
  }
}

function hashFile(thread: WriteThread, task: HashFileTask): string {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(READ_BLOCK_BYTES);
  try {
    for (let offset = 0; ; ) {
      checkStopped(thread);
      const length = readSync(task.fd, block, 0, block.length, offset);
      if (length === 0) return hash.digest('hex');
      hash.update(block.subarray(0, length));
      offset += length;
    }
  } catch (error) {
    throw writeError(error, task.path);
  }
}

function sealLarge(thread: WriteThread, task: SealTask): null {
  try {
    setAttributes(task.fd, task, thread);
    return null;
  } catch (error) {
    throw writeError(error, task.path);
  }
}

function placeLarge(thread: WriteThread, task: PlaceTask): PlaceOutcome {
  try {
    return putInPlace(task.temporary, thread.reach.absoluteOf(task.path));
  } catch (error) {
    throw writeError(error, task.path);
  }
}
