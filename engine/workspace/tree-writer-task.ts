/** What one thread does for the writer. The same code runs in worker threads and, for small jobs, in the caller's. */
import { createHash, type Hash, hash as hashOnce } from 'node:crypto';
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { DrayError, type ErrorRecord, toErrorRecord } from '../api/error.ts';
import type { SetMtime } from './set-mtime.ts';
import type { PackedFile, WrittenStat } from './tree-writer-contract.ts';
import { damagedFile, errnoOf, writeError } from './tree-writer-error.ts';

export type WriteTask = FilesTask | PieceTask | AppendTask | DigestTask | HashFileTask | SealTask | PlaceTask;

/** Small files, whole. Their folders are there and held. */
export interface FilesTask {
  readonly kind: 'files';
  readonly bytes: Uint8Array;
  /** What the items' offsets count more than those in `bytes`. */
  readonly bytesStart: number;
  readonly items: readonly PackedFile[];
}
/** A part of a large file. Descriptors are the process's, so every thread may write to one. */
export interface PieceTask {
  readonly kind: 'piece';
  readonly fd: number;
  readonly path: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly verify?: string | undefined;
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
/** Ends a stream and gives its SHA-256. */
export interface DigestTask {
  readonly kind: 'digest';
  readonly stream: number;
}
/** Reads a file back. */
export interface HashFileTask {
  readonly kind: 'hashFile';
  readonly fd: number;
  readonly path: string;
}
/** Sets the time of a large file whose content is complete. Its owner closes it then. */
export interface SealTask {
  readonly kind: 'seal';
  readonly fd: number;
  readonly path: string;
  readonly mtimeNs: bigint;
}
/** Puts a closed temporary file in its place. */
export interface PlaceTask {
  readonly kind: 'place';
  readonly temporary: string;
  readonly path: string;
}

/** `folderInTheWay`: a temporary file that is complete and waits for the owner of the folders to decide. */
export type PlaceOutcome = { readonly stat: WrittenStat } | { readonly folderInTheWay: string };
export type FileOutcome = PlaceOutcome | { readonly error: ErrorRecord };

export interface TaskResults {
  readonly files: readonly FileOutcome[];
  readonly piece: null;
  readonly append: null;
  readonly digest: string;
  readonly hashFile: string;
  readonly seal: null;
  readonly place: PlaceOutcome;
}

export interface WriteThread {
  readonly root: string;
  /** Of this thread alone. */
  readonly temporaryPrefix: string;
  /** Shared by all threads: not 0 once the writer is to stop. */
  readonly stop: Int32Array;
  readonly setMtime: SetMtime;
  readonly streams: Map<number, Hash>;
  nextName: number;
}

const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const READ_BLOCK_BYTES = 1024 * 1024;

/** Does one task. Throws DrayError. */
export function runWriteTask<K extends WriteTask['kind']>(
  thread: WriteThread,
  task: Extract<WriteTask, { kind: K }>,
): TaskResults[K];
export function runWriteTask(thread: WriteThread, task: WriteTask): TaskResults[WriteTask['kind']] {
  checkStopped(thread);
  switch (task.kind) {
    case 'files':
      return task.items.map((item) => writeFile(thread, task, item));
    case 'piece':
      return writePiece(task);
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

function checkStopped(thread: WriteThread): void {
  if (Atomics.load(thread.stop, 0) !== 0) throw new DrayError('aborted', 'Stopped on request.');
}

function writeFile(thread: WriteThread, task: FilesTask, item: PackedFile): FileOutcome {
  checkStopped(thread);
  const offset = item.offset - task.bytesStart;
  const content = task.bytes.subarray(offset, offset + item.sizeBytes);
  if (content.length !== item.sizeBytes)
    return failed(damagedFile(item.path, 'the bytes received end before it does'));
  if (hashOnce('sha256', content, 'hex') !== item.blob) return failed(contentDiffers(item.path, item.blob));
  const temporary = thread.temporaryPrefix + thread.nextName++;
  try {
    // The kernel takes the umask off, as it does for every program.
    const fd = openSync(temporary, CREATE_NEW, item.executable ? 0o777 : 0o666);
    try {
      try {
        writeFully(fd, content, 0);
        thread.setMtime(fd, item.mtimeNs);
      } finally {
        closeSync(fd);
      }
      return putInPlace(temporary, `${thread.root}/${item.path}`);
    } catch (error) {
      unlinkSync(temporary);
      throw error;
    }
  } catch (error) {
    return failed(writeError(error, item.path));
  }
}

function writePiece(task: PieceTask): null {
  if (task.verify !== undefined && hashOnce('sha256', task.bytes, 'hex') !== task.verify) {
    throw contentDiffers(task.path, task.verify);
  }
  return writeAt(task);
}

function appendToStream(thread: WriteThread, task: AppendTask): null {
  let hash = thread.streams.get(task.stream);
  if (!hash) {
    hash = createHash('sha256');
    thread.streams.set(task.stream, hash);
  }
  hash.update(task.bytes);
  return writeAt(task);
}

function endStream(thread: WriteThread, stream: number): string {
  const hash = thread.streams.get(stream) ?? createHash('sha256');
  thread.streams.delete(stream);
  return hash.digest('hex');
}

function writeAt(task: PieceTask | AppendTask): null {
  try {
    writeFully(task.fd, task.bytes, task.offset);
    return null;
  } catch (error) {
    throw writeError(error, task.path);
  }
}

/** One write is enough but for a full disk, a signal or 2 GiB. */
function writeFully(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
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
    thread.setMtime(task.fd, task.mtimeNs);
    return null;
  } catch (error) {
    throw writeError(error, task.path);
  }
}

function placeLarge(thread: WriteThread, task: PlaceTask): PlaceOutcome {
  try {
    return putInPlace(task.temporary, `${thread.root}/${task.path}`);
  } catch (error) {
    throw writeError(error, task.path);
  }
}

/** Renames a closed temporary file over a file, a link or nothing, never through a link. */
export function putInPlace(temporary: string, absolute: string): PlaceOutcome {
  try {
    renameSync(temporary, absolute);
  } catch (error) {
    if (isFolder(absolute, error)) return { folderInTheWay: temporary };
    throw error;
  }
  return { stat: statWritten(absolute) };
}

/** As the scan will see it; the change time is the rename's. */
export function statWritten(absolute: string): WrittenStat {
  const { mtimeMs, ctimeMs, ino, size } = lstatSync(absolute);
  return { mtimeMs, ctimeMs, inode: ino, sizeBytes: size };
}

function isFolder(absolute: string, error: unknown): boolean {
  const errno = errnoOf(error);
  if (errno === 'EISDIR') return true;
  // Windows and some network file systems have other words for it.
  if (errno !== 'EPERM' && errno !== 'EACCES' && errno !== 'EEXIST' && errno !== 'ENOTEMPTY') return false;
  return lstatSync(absolute, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function contentDiffers(path: string, blob: string): DrayError {
  return damagedFile(path, `what was received for it is not ${blob}`);
}

function failed(error: DrayError): FileOutcome {
  return { error: toErrorRecord(error) };
}
