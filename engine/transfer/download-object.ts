/** Objects from a store, verified: small ones whole in one request, large ones by ranges in parallel. */
import { DrayError } from '../api/error.ts';
import type { ComparedBy } from '../api/events.ts';
import type { LeasedMemory } from '../base/leased-memory.ts';
import { TaskSet } from '../base/task-set.ts';
import type { ByteRange, ObjectInfo, ObjectStore, RemoteKey } from '../remotes/object-store.ts';
import type { AdaptiveLimit } from './adaptive-limit.ts';
import { bestSum, createContentHasher, matchesSum, type ObjectSum } from './object-sums.ts';
import { askPartBytes } from './part-layout.ts';
import { joinSums, type SummedPart, sumPart } from './part-sums.ts';
import { openRemoteSource } from './remote-source.ts';

const MIB = 1024 * 1024;
/** Objects of at most so much come in one request. */
export const WHOLE_BYTES_MAX = 8 * MIB;
export const RANGE_BYTES = 8 * MIB;

/** By what the content was found to be right; `sizes` where the store keeps nothing that vouches for it. */
export type VerifiedBy = Exclude<ComparedBy, 'content' | 'presence'>;

export interface WholeDownload {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** As it was listed; another state is `io` with reason `changedWhileRead`. '' takes what is there, if it fits. */
  readonly etag: string;
  readonly sizeBytes: number;
  /** Room for `sizeBytes`. */
  readonly into: Uint8Array;
  readonly limit: AdaptiveLimit;
  readonly signal: AbortSignal;
}

export interface WholeDownloaded {
  readonly bytes: Uint8Array;
  readonly info: ObjectInfo;
  readonly by: VerifiedBy;
}

/** @throws DrayError `damaged` when the bytes are not what the store vouches for, `notFound` when the object is gone. */
export async function downloadWhole(request: WholeDownload): Promise<WholeDownloaded> {
  const { etag, into, key, limit, signal, sizeBytes, store } = request;
  const read = await limit
    .run(
      () =>
        store.read(key, {
          maxBytes: sizeBytes,
          into,
          checksums: true,
          ...(etag === '' ? {} : { ifMatch: etag }),
          signal,
        }),
      { bytes: sizeBytes, signal },
    )
    .catch((error: unknown) => {
      throw error instanceof DrayError && error.code === 'conflict' ? changed(key, error) : error;
    });
  if (!read) throw new DrayError('notFound', `${key} went away before it was read.`, { data: { key } });
  const { bytes, info } = read;
  if (bytes.length !== sizeBytes)
    throw etag === '' ? changed(key) : wrongLength(key, bytes.length, sizeBytes);
  const sum = bestSum(info);
  const isRight = sum && matchesSum(bytes, sum);
  if (isRight === false) throw wrongBytes(key, sum!);
  return { bytes, info, by: isRight ? sum!.by : 'sizes' };
}

/** Where ranges go. Several at a time, in any order. */
export interface RangeSink {
  write(offset: number, bytes: Uint8Array): Promise<void>;
}

export interface RangesDownload {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** From a HEAD with checksums: the state that is fetched, and no other. */
  readonly info: ObjectInfo;
  readonly sink: RangeSink;
  readonly limit: AdaptiveLimit;
  readonly memory: LeasedMemory;
  readonly rangeBytes?: number;
  readonly signal: AbortSignal;
  /** So many bytes more are in the sink. */
  readonly onProgress?: (bytes: number) => void;
}

/**
 * Resolves when every byte is in the sink and the whole is what the store vouches for.
 * @throws DrayError `damaged` when it is not; `io` with reason `changedWhileRead` when the object was replaced meanwhile.
 */
export async function downloadInRanges(
  request: RangesDownload,
): Promise<{ readonly by: VerifiedBy; readonly receivedBytes: number }> {
  const { info, key, limit, memory, onProgress, sink, store } = request;
  const check = await createCheck(request);
  const source = openRemoteSource({ store, key, info, limit });
  const tasks = new TaskSet(request.signal);
  try {
    for (const range of rangesOf(info.sizeBytes, request.rangeBytes ?? RANGE_BYTES)) {
      tasks.check();
      const lease = await memory.take(range.end - range.start, tasks.signal);
      const pass = check.next(range);
      tasks.spawn(async () => {
        try {
          const bytes = await source.read(
            range.start,
            lease.bytes.subarray(0, range.end - range.start),
            tasks.signal,
          );
          await Promise.all([sink.write(range.start, bytes), pass(bytes, tasks.signal)]);
          onProgress?.(bytes.length);
        } finally {
          lease.release();
        }
      });
    }
  } catch (error) {
    tasks.fail(error);
  }
  await tasks.settle();
  await source.checkUnchanged();
  check.finish();
  return { by: check.by, receivedBytes: info.sizeBytes };
}

interface Check {
  readonly by: VerifiedBy;
  /** To be called in the order of the ranges; what it gives may be called in any. */
  next(range: ByteRange): (bytes: Uint8Array, signal: AbortSignal) => Promise<void>;
  /** @throws `damaged` */
  finish(): void;
}

async function createCheck({
  info,
  key,
  signal,
  store,
}: Pick<RangesDownload, 'info' | 'key' | 'signal' | 'store'>): Promise<Check> {
  const sum = bestSum(info);
  if (!sum) return { by: 'sizes', next: () => async () => {}, finish: () => {} };
  if (sum.by === 'crc64nvme' || sum.by === 'crc32') return joinedCheck(key, sum);
  if (sum.by !== 'md5OfParts') return orderedCheck(key, sum, 0);
  const partBytes = await askPartBytes(store, key, info, sum.partCount, signal);
  // Without knowing where the parts were cut, nothing vouches for the content but its size.
  if (partBytes === undefined) return { by: 'sizes', next: () => async () => {}, finish: () => {} };
  return orderedCheck(key, sum, partBytes);
}

/** CRCs of the ranges, whatever their order, are joined in the end. */
function joinedCheck(key: RemoteKey, sum: Extract<ObjectSum, { by: 'crc64nvme' | 'crc32' }>): Check {
  const parts: SummedPart[] = [];
  let count = 0;
  return {
    by: sum.by,
    next() {
      const at = count++;
      return async (bytes) => {
        parts[at] = { sum: sumPart(sum.by, bytes), sizeBytes: bytes.length };
      };
    },
    finish() {
      const joined = parts.length === 0 ? sumPart(sum.by, new Uint8Array(0)) : joinSums(parts);
      const value = 'crc32' in joined ? joined.crc32 : joined.crc64nvme;
      if (value !== sum.value) throw wrongBytes(key, sum);
    },
  };
}

/** Hashes that need the bytes in order: a range waits for the one before, and its memory with it. */
function orderedCheck(key: RemoteKey, sum: ObjectSum, partBytes: number): Check {
  const hasher = createContentHasher(sum, partBytes);
  const turns = createTurns();
  return {
    by: sum.by,
    next() {
      const turn = turns.next();
      return (bytes, signal) => turn(signal, async () => hasher.update(bytes));
    },
    finish() {
      if (!hasher.matches()) throw wrongBytes(key, sum);
    },
  };
}

type Turn = (signal: AbortSignal, work: () => Promise<void>) => Promise<void>;

/** Work that is done in the order in which its turns were drawn. A turn whose work fails is never passed on: the signal ends the rest. */
function createTurns(): { next(): Turn } {
  let before: Promise<void> = Promise.resolve();
  return {
    next() {
      const turn = before;
      const { promise, resolve } = Promise.withResolvers<void>();
      before = promise;
      return async (signal, work) => {
        await orAborted(turn, signal);
        await work();
        resolve();
      };
    },
  };
}

function orAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, reject, resolve } = Promise.withResolvers<void>();
  const stop = () => reject(new DrayError('aborted', 'Stopped on request.'));
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  void turn.then(() => {
    signal.removeEventListener('abort', stop);
    resolve();
  });
  return promise;
}

export interface CatRequest extends Omit<RangesDownload, 'sink'> {
  /** Default: all of it. */
  readonly range?: ByteRange;
  /** Called with one piece after the other. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
}

/** An object's bytes in order, ranges fetched ahead. All of it is checked once its last byte is out; of a part, nothing vouches. */
export async function catObject(request: CatRequest): Promise<{ readonly bytes: number }> {
  const { info, key, limit, memory, range, store, write } = request;
  const start = Math.min(range?.start ?? 0, info.sizeBytes);
  const end = Math.max(start, Math.min(range?.end ?? info.sizeBytes, info.sizeBytes));
  const isWhole = end - start === info.sizeBytes;
  const check = isWhole ? await createCheck(request) : undefined;
  const source = openRemoteSource({ store, key, info, limit });
  const turns = createTurns();
  const tasks = new TaskSet(request.signal);
  try {
    for (const piece of rangesOf(end - start, request.rangeBytes ?? RANGE_BYTES)) {
      tasks.check();
      const length = piece.end - piece.start;
      const lease = await memory.take(length, tasks.signal);
      const turn = turns.next();
      const pass = check?.next(piece);
      tasks.spawn(async () => {
        try {
          const bytes = await source.read(start + piece.start, lease.bytes.subarray(0, length), tasks.signal);
          await pass?.(bytes, tasks.signal);
          await turn(tasks.signal, () => write(bytes));
        } finally {
          lease.release();
        }
      });
    }
  } catch (error) {
    tasks.fail(error);
  }
  await tasks.settle();
  await source.checkUnchanged();
  check?.finish();
  return { bytes: end - start };
}

function* rangesOf(sizeBytes: number, rangeBytes: number): Generator<ByteRange> {
  for (let start = 0; start < sizeBytes; start += rangeBytes)
    yield { start, end: Math.min(start + rangeBytes, sizeBytes) };
}

function changed(key: RemoteKey, cause?: unknown): DrayError {
  return new DrayError('io', `${key} changed while it was read. Copy again when it is at rest.`, {
    data: { path: key, reason: 'changedWhileRead' },
    cause,
  });
}

function wrongLength(key: RemoteKey, bytes: number, wanted: number): DrayError {
  return new DrayError('damaged', `${key}: the store sent ${bytes} bytes of the ${wanted} that it has.`, {
    data: { key },
  });
}

function wrongBytes(key: RemoteKey, { by }: ObjectSum): DrayError {
  const message = `${key}: what the store sent is not what it vouches for (${by}). Nothing was written; the object may be damaged there.`;
  return new DrayError('damaged', message, { data: { key, by } });
}
