/** One large file in progress: a temporary file of its full size, filled by several threads, then renamed. */
import assert from 'node:assert';
import { close, closeSync, constants, ftruncateSync, openSync, read, unlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { DrayError } from '../../api/error.ts';
import { syncContent } from '../disk/sync-disk.ts';
import { appendStream } from './append-stream.ts';
import { type GatheredWriter, openGatheredWriter } from './gathered-writer.ts';
import type { PlaceOutcome } from './put-in-place.ts';
import { type TrackedWrites, trackWrites } from './tracked-writes.ts';
import type { ExpectedPiece, FileMeta, LargeFile, WrittenStat } from './tree-writer-types.ts';
import type { UnfinishedFile } from './unfinished-files.ts';
import { contentDiffers, damagedFile, writeError } from './write-error.ts';
import type { WriteLane, WriteThreads } from './writer-threads.ts';

export interface LargeFileOptions {
  readonly meta: FileMeta;
  readonly temporary: string;
  /** For a file that outlives an unfinished run, and may be left from an earlier one. */
  readonly unfinished?: UnfinishedFile;
  readonly isOpenEnded?: boolean;
  /** A number that no other stream of the writer has. */
  readonly nextStream: () => number;
  readonly threads: WriteThreads;
  readonly signal: AbortSignal;
  /** Decides on a folder in the way; runs in the thread that owns the folders. */
  readonly finish: (path: string, outcome: PlaceOutcome) => WrittenStat;
  /** Called once, when the file is in place or removed. */
  readonly onEnd: () => void;
}

const readAt = promisify(read);
const OWN_MODE = 0o600;

/** The state of one open file. */
interface Writing {
  readonly options: LargeFileOptions;
  readonly fd: number;
  readonly writes: TrackedWrites;
  state: 'open' | 'committing' | 'ended';
  isFdOpen: boolean;
  streamDigest: string | undefined;
  ending: Promise<void> | undefined;
  gathered: GatheredWriter | undefined;
  lane: WriteLane | undefined;
  isExpected: boolean;
}

/** Creates the temporary file. Throws `diskFull` and `io`. */
export function openLargeFile(options: LargeFileOptions): LargeFile {
  const { unfinished } = options;
  const fd = unfinished?.fd ?? createSized(options);
  const file: Writing = {
    options,
    fd,
    writes: trackWrites(fd),
    state: 'open',
    isFdOpen: true,
    streamDigest: undefined,
    ending: undefined,
    gathered: undefined,
    lane: undefined,
    isExpected: false,
  };
  return {
    write: (offset, bytes, expected) => write(file, { offset, bytes, expected }),
    place: (offset, pieces) => place(file, offset, pieces),
    writeStream: (body) => writeStream(file, body),
    read: (offset, into) => readBack(file, offset, into),
    accept(offset, length) {
      checkRange(file, offset, length);
      file.writes.pieces.set(offset, length);
    },
    ...(unfinished ? { notesPath: unfinished.notesPath } : {}),
    commit: (wish = {}) => commit(file, wish),
    // A commit in progress decides by itself; the signal stops it where necessary.
    discard: async () => (file.state === 'open' ? end(file, { isKept: false }) : file.ending),
    leave: async () =>
      file.state === 'open' ? end(file, { isKept: unfinished !== undefined }) : file.ending,
  };
}

function assertOpen({ options, state }: Writing): void {
  if (options.signal.aborted) throw new DrayError('aborted', 'Stopped on request.');
  assert(state === 'open', `${options.meta.path}: written after its end`);
}

function checkRange(file: Writing, offset: number, length: number): void {
  assertOpen(file);
  const { isOpenEnded = false, meta } = file.options;
  if (!isOpenEnded && offset + length > meta.sizeBytes)
    throw damagedFile(meta.path, `more than ${meta.sizeBytes} bytes arrived for it`);
}

/** Announces the work to the threads. Placed bytes need no threads of ours. */
function expectBytes(file: Writing): void {
  if (!file.isExpected) file.options.threads.expect(1, file.options.meta.sizeBytes);
  file.isExpected = true;
}

/** Concurrent writes to one file spin on its lock in the kernel; only hashing is worth several threads. */
function laneFor(file: Writing, isHashed: boolean): WriteLane {
  if (isHashed) return file.options.threads;
  file.lane ??= file.options.threads.lane();
  return file.lane;
}

async function write(
  file: Writing,
  piece: {
    readonly offset: number;
    readonly bytes: Uint8Array;
    readonly expected: ExpectedPiece | undefined;
  },
): Promise<void> {
  const { bytes, expected, offset } = piece;
  // The buffer may move to another thread, which empties `bytes` here.
  const length = expected?.contentBytes ?? expected?.sealed?.sizeBytes ?? bytes.length;
  checkRange(file, offset, length);
  expectBytes(file);
  const { path } = file.options.meta;
  const task = { kind: 'piece', fd: file.fd, path, offset, bytes, expected } as const;
  await file.writes.note(offset, length, laneFor(file, expected !== undefined).run('piece', task));
}

async function place(file: Writing, offset: number, pieces: readonly Uint8Array[]): Promise<void> {
  const length = totalBytes(pieces);
  checkRange(file, offset, length);
  file.gathered ??= openGatheredWriter(file.fd);
  await file.writes.track(translated(file, file.gathered.write(offset, pieces)), length);
}

async function writeStream(file: Writing, body: AsyncIterable<Uint8Array>): Promise<void> {
  assertOpen(file);
  const { fd, writes } = file;
  const { meta, nextStream, signal, threads } = file.options;
  writes.pieces.clear();
  file.streamDigest = undefined;
  expectBytes(file);
  const stream = nextStream();
  const lane = threads.lane();
  const append = (offset: number, bytes: Uint8Array) => {
    const { length } = bytes;
    checkRange(file, offset, length);
    const task = { kind: 'append', stream, fd, path: meta.path, offset, bytes } as const;
    return writes.note(offset, length, lane.run('append', task));
  };
  try {
    const length = await appendStream({ body, sizeBytes: meta.sizeBytes, append, signal });
    if (length < meta.sizeBytes) throw damagedFile(meta.path, `its content ended after ${length} bytes`);
  } finally {
    // Also frees the hash of a failed stream.
    file.streamDigest = await endStream(lane, stream);
  }
}

async function readBack(file: Writing, offset: number, into: Uint8Array): Promise<Uint8Array> {
  assertOpen(file);
  for (let filled = 0; filled < into.length; ) {
    const reading = readAt(file.fd, into, filled, into.length - filled, offset + filled);
    const { bytesRead } = await translated(file, reading);
    if (bytesRead === 0)
      throw damagedFile(file.options.meta.path, `only ${offset + filled} of its bytes are there`);
    filled += bytesRead;
  }
  return into;
}

async function commit(
  file: Writing,
  { sizeBytes, verifyContent = false }: NonNullable<Parameters<LargeFile['commit']>[0]>,
): Promise<WrittenStat> {
  assertOpen(file);
  file.state = 'committing';
  const { fd, writes } = file;
  const { finish, isOpenEnded, meta, onEnd, temporary, threads, unfinished } = file.options;
  const { blob, mode, mtimeNs, path } = meta;
  try {
    await writes.allWritten();
    checkComplete(path, (isOpenEnded ? sizeBytes : undefined) ?? meta.sizeBytes, writes.pieces);
    const digest =
      verifyContent && blob !== undefined
        ? await threads.run('hashFile', { kind: 'hashFile', fd, path })
        : file.streamDigest;
    if (digest !== undefined && blob !== undefined && digest !== blob) throw contentDiffers(path, blob);
    await translated(file, syncContent(fd));
    await threads.run('seal', { kind: 'seal', fd, path, mtimeNs, mode });
    file.isFdOpen = false;
    await closeFile(fd, path);
    const stat = finish(path, await threads.run('place', { kind: 'place', temporary, path }));
    file.state = 'ended';
    if (unfinished) unlinkIfThere(unfinished.notesPath);
    onEnd();
    return stat;
  } catch (error) {
    await end(file, { isKept: false });
    throw error;
  }
}

function end(file: Writing, { isKept }: { readonly isKept: boolean }): Promise<void> {
  const { onEnd, temporary, unfinished } = file.options;
  file.ending ??= (async () => {
    if (file.state === 'ended') return;
    file.state = 'ended';
    await file.writes.settled();
    if (file.isFdOpen) closeSync(file.fd);
    if (!isKept) unlinkIfThere(temporary);
    if (!isKept && unfinished) unlinkIfThere(unfinished.notesPath);
    onEnd();
  })();
  return file.ending;
}

function translated<T>(file: Writing, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw writeError(error, file.options.meta.path);
  });
}

function createSized({ meta, temporary }: LargeFileOptions): number {
  try {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
    // The final mode is set at the end; until then only the owner may read it, since it may stay for days.
    const mode = meta.mode === undefined ? (meta.executable ? 0o777 : 0o666) : OWN_MODE;
    const fd = openSync(temporary, flags, mode);
    try {
      ftruncateSync(fd, meta.sizeBytes);
      return fd;
    } catch (error) {
      closeSync(fd);
      unlinkSync(temporary);
      throw error;
    }
  } catch (error) {
    throw writeError(error, meta.path);
  }
}

function totalBytes(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((total, { byteLength }) => total + byteLength, 0);
}

async function endStream(lane: WriteLane, stream: number): Promise<string | undefined> {
  try {
    return await lane.run('digest', { kind: 'digest', stream });
  } catch {
    // Only when the writer is stopped: then nothing is committed.
    return undefined;
  }
}

/** Checks that each byte was written once: a hole would read as zeros that nobody sent. */
function checkComplete(path: string, sizeBytes: number, pieces: ReadonlyMap<number, number>): void {
  let end = 0;
  let lastEnd = 0;
  for (const [offset, length] of [...pieces].sort(([a], [b]) => a - b)) {
    lastEnd = Math.max(lastEnd, offset + length);
    if (offset > end) break;
    end = Math.max(end, offset + length);
  }
  if (end !== sizeBytes || lastEnd !== end)
    throw damagedFile(path, `${end} of its ${sizeBytes} bytes arrived in one piece`);
}

/** Asynchronous: over a network, closing a file waits until the server has it, and may report a failure. */
async function closeFile(fd: number, path: string): Promise<void> {
  try {
    await promisify(close)(fd);
  } catch (error) {
    throw writeError(error, path);
  }
}

function unlinkIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Already renamed or swept: it is gone either way.
  }
}
