/** One large file in progress: a temporary file of its full size, filled by several threads, then renamed. */
import assert from 'node:assert';
import { close, closeSync, constants, ftruncateSync, openSync, read, unlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { DrayError } from '../../api/error.ts';
import type { BlobHash } from '../../model/entry.ts';
import { startWriteback, syncContent } from '../disk/sync-disk.ts';
import { appendStream } from './append-stream.ts';
import { type GatheredWriter, openGatheredWriter } from './gathered-writer.ts';
import type { PlaceOutcome } from './put-in-place.ts';
import type { FileMeta, LargeFile, WrittenStat } from './tree-writer-types.ts';
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
/** 2, 8 and 32 MB cost the same here; without write-back, the final sync took twice as long. */
const WRITEBACK_BYTES = 8 * 1024 * 1024;

/** Creates the temporary file. Throws `diskFull` and `io`. */
export function openLargeFile(options: LargeFileOptions): LargeFile {
  const { isOpenEnded = false, meta, temporary, threads, unfinished } = options;
  const fd = unfinished?.fd ?? createSized(options);
  /** Written pieces: length by offset. */
  const pieces = new Map<number, number>();
  const writing = new Set<Promise<unknown>>();
  let state: 'open' | 'committing' | 'ended' = 'open';
  let isFdOpen = true;
  /** Bytes written since the last write-back started. */
  let unstartedBytes = 0;
  let streamDigest: string | undefined;
  let ending: Promise<void> | undefined;

  let gathered: GatheredWriter | undefined;
  let lane: WriteLane | undefined;
  /** Placed bytes need no threads of ours. */
  let isExpected = false;
  const expectBytes = () => {
    if (!isExpected) threads.expect(1, meta.sizeBytes);
    isExpected = true;
  };
  /** Concurrent writes to one file spin on its lock in the kernel; only hashing is worth several threads. */
  function laneFor(verify: BlobHash | undefined): WriteLane {
    if (verify !== undefined) return threads;
    lane ??= threads.lane();
    return lane;
  }

  function assertOpen(): void {
    if (options.signal.aborted) throw new DrayError('aborted', 'Stopped on request.');
    assert(state === 'open', `${meta.path}: written after its end`);
  }

  function assertInside(offset: number, length: number): void {
    if (!isOpenEnded && offset + length > meta.sizeBytes)
      throw damagedFile(meta.path, `more than ${meta.sizeBytes} bytes arrived for it`);
  }

  /** Runs the write, and records it once it has succeeded. */
  function note(offset: number, length: number, work: Promise<unknown>): Promise<void> {
    return track(
      work.then(() => void pieces.set(offset, length)),
      length,
    );
  }

  function track(write: Promise<void>, length: number): Promise<void> {
    const noted = write.then(() => {
      unstartedBytes += length;
      if (unstartedBytes < WRITEBACK_BYTES) return;
      unstartedBytes = 0;
      hold(startWriteback(fd));
    });
    hold(noted);
    return noted;
  }

  /** The file stays open until the work has ended. */
  function hold(work: Promise<void>): void {
    writing.add(work);
    const forget = () => void writing.delete(work);
    work.then(forget, forget);
  }

  async function write(offset: number, bytes: Uint8Array, verify?: BlobHash): Promise<void> {
    assertOpen();
    assertInside(offset, bytes.length);
    expectBytes();
    const length = bytes.length;
    await note(
      offset,
      length,
      laneFor(verify).run('piece', { kind: 'piece', fd, path: meta.path, offset, bytes, verify }),
    );
  }

  async function place(offset: number, pieces: readonly Uint8Array[]): Promise<void> {
    assertOpen();
    assertInside(offset, totalBytes(pieces));
    gathered ??= openGatheredWriter(fd);
    await track(
      gathered.write(offset, pieces).catch((error: unknown) => {
        throw writeError(error, meta.path);
      }),
      totalBytes(pieces),
    );
  }

  async function writeStream(body: AsyncIterable<Uint8Array>): Promise<void> {
    assertOpen();
    pieces.clear();
    streamDigest = undefined;
    expectBytes();
    const stream = options.nextStream();
    const lane = threads.lane();
    const append = (offset: number, bytes: Uint8Array) => {
      assertOpen();
      assertInside(offset, bytes.length);
      const length = bytes.length;
      return note(
        offset,
        length,
        lane.run('append', { kind: 'append', stream, fd, path: meta.path, offset, bytes }),
      );
    };
    try {
      const length = await appendStream({ body, sizeBytes: meta.sizeBytes, append, signal: options.signal });
      if (length < meta.sizeBytes) throw damagedFile(meta.path, `its content ended after ${length} bytes`);
    } finally {
      // Also frees the hash of a failed stream.
      streamDigest = await endStream(lane, stream);
    }
  }

  async function readBack(offset: number, into: Uint8Array): Promise<Uint8Array> {
    assertOpen();
    for (let filled = 0; filled < into.length; ) {
      const { bytesRead } = await readAt(fd, into, filled, into.length - filled, offset + filled).catch(
        (error: unknown) => {
          throw writeError(error, meta.path);
        },
      );
      if (bytesRead === 0) throw damagedFile(meta.path, `only ${offset + filled} of its bytes are there`);
      filled += bytesRead;
    }
    return into;
  }

  async function commit({
    sizeBytes = meta.sizeBytes,
    verifyContent = false,
  }: Parameters<LargeFile['commit']>[0] = {}): Promise<WrittenStat> {
    assertOpen();
    state = 'committing';
    try {
      await Promise.all(writing);
      checkComplete(meta.path, isOpenEnded ? sizeBytes : meta.sizeBytes, pieces);
      const digest =
        verifyContent && meta.blob !== undefined
          ? await threads.run('hashFile', { kind: 'hashFile', fd, path: meta.path })
          : streamDigest;
      if (digest !== undefined && meta.blob !== undefined && digest !== meta.blob)
        throw contentDiffers(meta.path, meta.blob);
      const { mode, mtimeNs, path } = meta;
      await syncContent(fd).catch((error: unknown) => {
        throw writeError(error, path);
      });
      await threads.run('seal', { kind: 'seal', fd, path, mtimeNs, mode });
      isFdOpen = false;
      await closeFile(fd, meta.path);
      const outcome = await threads.run('place', { kind: 'place', temporary, path: meta.path });
      const stat = options.finish(meta.path, outcome);
      state = 'ended';
      if (unfinished) unlinkIfThere(unfinished.notesPath);
      options.onEnd();
      return stat;
    } catch (error) {
      await end({ isKept: false });
      throw error;
    }
  }

  function accept(offset: number, length: number): void {
    assertOpen();
    assertInside(offset, length);
    pieces.set(offset, length);
  }

  function end({ isKept }: { readonly isKept: boolean }): Promise<void> {
    ending ??= (async () => {
      if (state === 'ended') return;
      state = 'ended';
      await Promise.allSettled(writing);
      if (isFdOpen) closeSync(fd);
      if (!isKept) unlinkIfThere(temporary);
      if (!isKept && unfinished) unlinkIfThere(unfinished.notesPath);
      options.onEnd();
    })();
    return ending;
  }

  return {
    write,
    place,
    writeStream,
    read: readBack,
    accept,
    ...(unfinished ? { notesPath: unfinished.notesPath } : {}),
    commit,
    // A commit in progress decides by itself; the signal stops it where necessary.
    discard: async () => (state === 'open' ? end({ isKept: false }) : ending),
    leave: async () => (state === 'open' ? end({ isKept: unfinished !== undefined }) : ending),
  };
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

/** Requires every byte once: a hole would be zeros that nobody sent. */
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
