/** Objects from a store, verified: small ones whole in one request, large ones by ranges in parallel. */
import { DrayError } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import { crc64Nvme } from '../base/crc64-nvme.ts';
import type { LeasedMemory } from '../base/leased-memory.ts';
import { TaskSet } from '../base/task-set.ts';
import type { ByteRange, ObjectBytes, ObjectInfo, ObjectStore, RemoteKey } from '../remotes/object-store.ts';
import type { AdaptiveLimit } from './adaptive-limit.ts';
import type { OpenDigest } from './digest-threads.ts';
import type { ObjectSource } from './object-source.ts';
import { bestSum, matchesSum } from './object-sums.ts';
import type { PartSum } from './part-sums.ts';
import {
  createTurns,
  openRangeCheck,
  type RangeCheck,
  type VerifiedBy,
  wrongContent,
} from './range-check.ts';
import type { NotedRange, RangeJournal } from './range-journal.ts';
import { changed, openRemoteSource, vanished } from './remote-source.ts';

const MIB = 1024 * 1024;
/** Objects of at most so much come in one request. */
export const WHOLE_BYTES_MAX = 8 * MIB;
const RANGE_BYTES = 8 * MIB;
/** A single large object takes 0.8 of the CPU time in ranges of this size (measured with versitygw), for half the requests. */
const LARGE_RANGE_BYTES = 16 * MIB;
const LARGE_OBJECT_BYTES = 512 * MIB;
/** Ranges that are hashed or written while others are fetched: memory for more would lie idle. */
const RANGES_AHEAD = 4;

/** How large the ranges of an object are when nobody says. */
export function rangeBytesFor(sizeBytes: number): number {
  return sizeBytes < LARGE_OBJECT_BYTES ? RANGE_BYTES : LARGE_RANGE_BYTES;
}

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
  /** Usually in `into`. */
  readonly bytes: Uint8Array;
  readonly info: ObjectInfo;
  readonly by: VerifiedBy;
}

/** What was damaged on the way is not damaged twice. */
const ATTEMPTS_MAX = 2;

/** @throws DrayError `damaged` when the bytes are not what the store vouches for, `io` when the object changed or is gone. */
export async function downloadWhole(request: WholeDownload): Promise<WholeDownloaded> {
  for (let attempt = 1; ; attempt += 1) {
    const { bytes, info } = await readWhole(request);
    const sum = bestSum(info);
    const isRight = sum && matchesSum(bytes, sum);
    if (isRight !== false) return { bytes, info, by: isRight ? sum!.by : 'sizes' };
    if (attempt === ATTEMPTS_MAX) throw wrongContent(request.key, sum!.by);
  }
}

async function readWhole(request: WholeDownload): Promise<ObjectBytes> {
  const { etag, into, key, limit, signal, sizeBytes, store } = request;
  const pinned = etag === '' ? {} : { ifMatch: etag };
  const call = { ...pinned, maxBytes: sizeBytes, into, checksums: true, signal };
  const read = await limit
    .run(() => store.read(key, call), { bytes: sizeBytes, signal })
    .catch((error: unknown) => {
      throw error instanceof DrayError && error.code === 'conflict' ? changed(key, error) : error;
    });
  if (!read) throw vanished(key);
  // A store that does not honour If-Match is noticed by the etag of its answer.
  if (etag !== '' && read.etag !== '' && read.etag !== etag) throw changed(key);
  if (read.bytes.length === sizeBytes) return read;
  throw etag === '' ? changed(key) : wrongLength(key, read.bytes.length, sizeBytes);
}

/** Where ranges go. Several at a time, in any order. */
export interface RangeSink {
  write(offset: number, bytes: Uint8Array): Promise<void>;
  /** Reads back what was written: needed to go on with a download that was broken off. */
  read?(offset: number, into: Uint8Array): Promise<Uint8Array>;
  /** Told of what was read back and found right. */
  accept?(offset: number, lengthBytes: number): void;
}

export interface RangesDownload {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** From a HEAD with checksums: the state that is fetched, and no other. */
  readonly info: ObjectInfo;
  readonly sink: RangeSink;
  readonly limit: AdaptiveLimit;
  readonly memory: LeasedMemory;
  /** Where digests are computed, when the store keeps nothing better; default: in this thread. */
  readonly openDigest?: OpenDigest;
  /** Default `rangeBytesFor` its size. */
  readonly rangeBytes?: number;
  /** Of this object in these ranges: what it has noted is read back from the sink, and fetched only when it is not right there. */
  readonly journal?: Pick<RangeJournal, 'note' | 'noted'>;
  readonly signal: AbortSignal;
  /** So many bytes more are in the sink. */
  readonly onProgress?: (bytes: number) => void;
}

export interface RangesDownloaded {
  readonly by: VerifiedBy;
  /** Over the wire: less than the object's size when some of it was there already. */
  readonly receivedBytes: number;
}

/**
 * Resolves when every byte is in the sink and the whole is what the store vouches for. CRC64NVME needs `loadCrc64`.
 * @throws DrayError `damaged` when it is not; `io` with reason `changedWhileRead` when the object was replaced meanwhile. What the sink
 *   and the journal hold is for nothing then. After any other error another run may go on from it.
 */
export async function downloadInRanges(request: RangesDownload): Promise<RangesDownloaded> {
  const { info, journal, sink } = request;
  let receivedBytes = 0;
  const by = await fetchRanges(request, { start: 0, end: info.sizeBytes }, async (piece) => {
    const { bytes, pass, range, read, signal } = piece;
    const held = sink.read && journal?.noted.get(range.start);
    if (held && (await isHeld(sink, held, bytes))) {
      await pass(bytes, signal);
      sink.accept?.(range.start, bytes.length);
    } else {
      const fetched = await read();
      receivedBytes += fetched.length;
      const sum = await bothEnded(pass(fetched, signal), sink.write(range.start, fetched));
      await journal?.note(range, crc64Of(fetched, sum));
    }
    request.onProgress?.(bytes.length);
  });
  return { by, receivedBytes };
}

/** Their memory is given back afterwards, so that a failure of one does not hurry the other. Gives what the first one gave. */
async function bothEnded<T>(first: Promise<T>, second: Promise<unknown>): Promise<T> {
  await Promise.allSettled([first, second]);
  const [value] = await Promise.all([first, second]);
  return value;
}

async function isHeld(sink: RangeSink, held: NotedRange, into: Uint8Array): Promise<boolean> {
  if (held.end - held.start !== into.length) return false;
  const bytes = await sink.read!(held.start, into);
  return crc64Nvme(bytes) === held.crc64nvme;
}

function crc64Of(bytes: Uint8Array, sum: PartSum | undefined): bigint {
  return sum && 'crc64nvme' in sum ? sum.crc64nvme : crc64Nvme(bytes);
}

export interface CatRequest extends Omit<RangesDownload, 'journal' | 'sink'> {
  /** Default: all of it. Cut at the object's end. */
  readonly range?: ByteRange;
  /** Called with one piece after the other, which are the callee's until it resolves. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
}

/**
 * An object's bytes in order, ranges fetched ahead. All of it is checked once its last byte is out; nothing vouches for a part of it.
 * @throws As `downloadInRanges`; what was written until then is not to be relied on.
 */
export async function catObject(
  request: CatRequest,
): Promise<{ readonly bytes: number; readonly by: VerifiedBy }> {
  const { info, range, write } = request;
  const start = Math.min(range?.start ?? 0, info.sizeBytes);
  const end = Math.max(start, Math.min(range?.end ?? info.sizeBytes, info.sizeBytes));
  const turns = createTurns();
  const by = await fetchRanges(request, { start, end }, ({ pass, read, signal }) => {
    const turn = turns.next();
    return (async () => {
      const bytes = await read();
      await pass(bytes, signal);
      await turn(signal, () => write(bytes));
    })();
  });
  return { bytes: end - start, by };
}

interface Piece {
  readonly range: ByteRange;
  /** Room for the range, until the work on it ends. */
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal;
  /** Fetches it; usually into `bytes`. */
  read(): Promise<Uint8Array>;
  readonly pass: ReturnType<RangeCheck['next']>;
}

/** Starts the work on one range after the other, as memory allows, in order. The whole is checked; a part of it is not. */
async function fetchRanges(
  request: Omit<CatRequest, 'range' | 'write'>,
  { end, start }: ByteRange,
  work: (piece: Piece) => Promise<void>,
): Promise<VerifiedBy> {
  const { info, limit, memory, rangeBytes = rangeBytesFor(info.sizeBytes) } = request;
  const isWhole = end - start === info.sizeBytes;
  const check = isWhole ? await openRangeCheck(request, request.openDigest) : undefined;
  const source = openRemoteSource(request);
  const tasks = new TaskSet(request.signal);
  const room = new Budget(1);
  try {
    for (const range of rangesOf(start, end, rangeBytes)) {
      tasks.check();
      room.setLimit(limit.current + RANGES_AHEAD);
      const permit = await room.acquire(1, tasks.signal);
      const lease = await memory.take(range.end - range.start, tasks.signal);
      const bytes = lease.bytes.subarray(0, range.end - range.start);
      const piece: Piece = {
        range,
        bytes,
        signal: tasks.signal,
        read: () => source.read(range.start, bytes, tasks.signal),
        pass: check?.next(range) ?? (async () => undefined),
      };
      tasks.spawn(() =>
        work(piece).finally(() => {
          lease.release();
          permit.release();
        }),
      );
    }
  } catch (error) {
    tasks.fail(error);
  }
  await settle(tasks, source);
  return check ? check.finish() : 'sizes';
}

async function settle(tasks: TaskSet, source: ObjectSource): Promise<void> {
  try {
    await tasks.settle();
    await source.checkUnchanged();
  } finally {
    tasks.end();
    await source.close();
  }
}

function* rangesOf(from: number, to: number, rangeBytes: number): Generator<ByteRange> {
  for (let start = from; start < to; start += rangeBytes)
    yield { start, end: Math.min(start + rangeBytes, to) };
}

function wrongLength(key: RemoteKey, bytes: number, wanted: number): DrayError {
  return new DrayError('damaged', `${key}: the store sent ${bytes} bytes of the ${wanted} that it has.`, {
    data: { key },
  });
}
