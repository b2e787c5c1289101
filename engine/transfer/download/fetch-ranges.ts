/**
 * Fetches a large object, or a part of it, by concurrent ranges, or by stretches of many adjacent ranges in
 * one request each.
 */
import { markAsUntransferable } from 'node:worker_threads';
import { Budget } from '../../base/budget.ts';
import type { LeasedMemory } from '../../base/leased-memory.ts';
import { TaskSet } from '../../base/task-set.ts';
import type { ByteRange, ObjectInfo, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import type { AdaptiveLimit } from '../limit/adaptive-limit.ts';
import type { ObjectSource } from '../upload/object-source.ts';
import { openRemoteSource } from '../upload/remote-source.ts';
import type { OpenDigest } from './digest-threads.ts';
import { openRangeCheck, type RangeCheck, type VerifiedBy } from './range-check.ts';

const MIB = 1024 * 1024;
const RANGE_BYTES = 8 * MIB;
/**
 * A single large object takes 0.8 of the CPU time in ranges of this size (measured with versitygw), for half
 * the requests.
 */
const LARGE_RANGE_BYTES = 16 * MIB;
const LARGE_OBJECT_BYTES = 512 * MIB;
/** Ranges that are hashed or written while others are fetched: memory for more would stay unused. */
const RANGES_AHEAD = 4;

/** The default size of an object's ranges. */
export function rangeBytesFor(sizeBytes: number): number {
  return sizeBytes < LARGE_OBJECT_BYTES ? RANGE_BYTES : LARGE_RANGE_BYTES;
}

export interface RangesRequest {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** From a HEAD with checksums: the only accepted state. */
  readonly info: ObjectInfo;
  readonly limit: AdaptiveLimit;
  readonly memory: LeasedMemory;
  /** Computes digests when the store has no better sum; default: in this thread. */
  readonly openDigest?: OpenDigest;
  /** Default `rangeBytesFor` its size. */
  readonly rangeBytes?: number;
  readonly signal: AbortSignal;
}

export interface RangePiece {
  readonly range: ByteRange;
  /** Memory for the range, until the work on it ends. */
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal;
  /** Fetches the range, usually into `bytes`. */
  read(): Promise<Uint8Array>;
  readonly pass: Pass;
}

/** The function that `RangeCheck` returns for a range. */
export type Pass = ReturnType<RangeCheck['next']>;

export interface RangeStretch {
  /** Covers whole ranges. */
  readonly range: ByteRange;
  readonly signal: AbortSignal;
  /** For the next piece, in order; pieces can have any size. */
  readonly next: (piece: ByteRange) => Pass;
}

/** The ranges that are fetched in stretches, each awaited before later ranges begin. */
export interface Stretches {
  /** The end of a stretch from a range's start; that start itself when its range is to be fetched alone. */
  readonly endFrom: (start: number) => number;
  readonly fetch: (stretch: RangeStretch) => Promise<void>;
}

/**
 * Starts the work on one range after the other, in order, as memory allows.
 * @param part The whole object is verified; a part of it is not, and returns `sizes`.
 * @param work Resolves when the range's memory is no longer needed.
 */
export async function fetchRanges(
  request: RangesRequest,
  part: ByteRange & { readonly stretches?: Stretches },
  work: (piece: RangePiece) => Promise<void>,
): Promise<VerifiedBy> {
  const { info, limit, memory, rangeBytes = rangeBytesFor(info.sizeBytes) } = request;
  const { end, start, stretches } = part;
  const isWhole = end - start === info.sizeBytes;
  const check = isWhole ? await openRangeCheck(request, request.openDigest) : undefined;
  const next = (range: ByteRange): Pass => check?.next(range) ?? (async () => undefined);
  const source = openRemoteSource(request);
  const tasks = new TaskSet(request.signal);
  const { signal } = tasks;
  const room = new Budget(1);
  const startRange = async (range: ByteRange) => {
    room.setLimit(limit.current + RANGES_AHEAD);
    const permit = await room.acquire(1, signal);
    const lease = await memory.take(range.end - range.start, signal);
    const bytes = lease.bytes.subarray(0, range.end - range.start);
    const read = async () => {
      const fetched = await source.read(range.start, bytes, signal);
      // Several read them at once: none may move them to another thread.
      if (fetched.buffer instanceof ArrayBuffer) markAsUntransferable(fetched.buffer);
      return fetched;
    };
    const piece: RangePiece = { range, bytes, signal, read, pass: next(range) };
    tasks.spawn(() =>
      work(piece).finally(() => {
        lease.release();
        permit.release();
      }),
    );
  };
  try {
    for (let at = start; at < end; ) {
      tasks.check();
      const stretchEnd = stretches?.endFrom(at) ?? at;
      const range = { start: at, end: stretchEnd > at ? stretchEnd : Math.min(at + rangeBytes, end) };
      if (stretchEnd > at) {
        // A range on disk may turn out wrong and then needs a slot, which the stretch would hold while its
        // pieces wait for that range.
        await tasks.settle();
        await stretches!.fetch({ range, signal, next });
      } else await startRange(range);
      at = range.end;
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
    await source[Symbol.asyncDispose]();
  }
}
