/**
 * Limits a store to a number of bytes of content a second, both directions together. It wraps below the retry
 * wrapper: bytes that are sent again count again. Streams are slowed piece by piece. A body in memory waits
 * before it is sent in one go, and one that was read into memory is paid for once its size is known, before
 * its reader gets it. So a rate holds over seconds, not within each.
 */
import type { Throttle } from '../../api/jobs/jobs.ts';
import type { Clock } from '../../base/clock.ts';
import type { DeltaSource, DeltaTarget } from '../../model/delta-sides.ts';
import type { FileCalls } from '../file-calls.ts';
import type { ObjectRead, ObjectStore } from '../object-store.ts';
import { wrapStore } from './wrap-store.ts';

export interface ThrottleOptions {
  /**
   * Read all the time, because it may change at any moment. Undefined: no limit. For `withRequestRate` it
   * is a number of requests.
   */
  readonly bytesPerSecond: () => number | undefined;
  readonly clock: Clock;
}

/** Bytes that may be sent at once after a pause: a second's worth. */
const BURST_SECONDS = 1;
/** The interval at which waiting calls check for a changed rate. */
const LOOKS_EVERY_MS = 1000;

/** @param throttle Several stores may share one. */
export function withThrottle(store: ObjectStore, throttle: Throttle): ObjectStore {
  const plain = wrapStore(store, (_name, _signal, send) => send());
  const { files, multipart } = plain;
  return {
    ...plain,
    async get(key, call) {
      const read = await store.get(key, call);
      return read && { ...read, body: throttledBody(read.body, throttle, call?.signal) };
    },
    async read(key, call) {
      const read = await store.read(key, call);
      const turn = read && throttle.take(read.bytes.byteLength, call.signal);
      if (turn) await turn;
      return read;
    },
    put: (key, bytes, put) =>
      inTurn(throttle.take(bytes.byteLength, put?.signal), () => store.put(key, bytes, put)),
    putStream: (key, body, put) => store.putStream(key, throttled(body, throttle, put?.signal), put),
    ...(multipart && {
      multipart: {
        ...multipart,
        uploadPart: (upload, number, bytes, put) =>
          inTurn(throttle.take(bytes.byteLength, put?.signal), () =>
            multipart.uploadPart(upload, number, bytes, put),
          ),
      },
    }),
    ...(files && { files: throttledFiles(files, throttle) }),
  };
}

/** Limits a store to a number of requests a second. It wraps below the retry wrapper too. */
export function withRequestRate(store: ObjectStore, throttle: Throttle): ObjectStore {
  return wrapStore(store, (_name, signal, send) => inTurn(throttle.take(1, signal), send));
}

function inTurn<T>(turn: Promise<void> | undefined, send: () => Promise<T>): Promise<T> {
  return turn ? turn.then(send) : send();
}

function throttledFiles(files: FileCalls, throttle: Throttle): FileCalls {
  return {
    ...files,
    async write(written, call) {
      await throttle.take(
        written.reduce((total, { bytes }) => total + bytes.byteLength, 0),
        call.signal,
      );
      return files.write(written, call);
    },
    async read(keys, call) {
      const results = await files.read(keys, call);
      const bytes = results.reduce((total, one) => total + ('bytes' in one ? one.bytes.byteLength : 0), 0);
      await throttle.take(bytes, call.signal);
      return results;
    },
    deltas: {
      source: async (key, signature, call) =>
        throttledDeltaSource(await files.deltas.source(key, signature, call), throttle),
      target: async (key, wish, call) =>
        throttledDeltaTarget(await files.deltas.target(key, wish, call), throttle),
    },
  };
}

export function throttledDeltaSource<Source extends DeltaSource>(source: Source, throttle: Throttle): Source {
  return {
    ...source,
    async read(ranges, into, wish) {
      const digests = await source.read(ranges, into, wish);
      await throttle.take(into.byteLength, wish.signal);
      return digests;
    },
  };
}

export function throttledDeltaTarget(target: DeltaTarget, throttle: Throttle): DeltaTarget {
  return {
    ...target,
    async write(ranges, bytes, signal) {
      await throttle.take(bytes.byteLength, signal);
      return target.write(ranges, bytes, signal);
    },
  };
}

/**
 * A token bucket, kept as two counts that only grow: the bytes that were taken, and those that were paid for
 * since. A call takes its place at once, so small ones do not overtake a large body for ever. It runs when
 * all before it and itself are paid for, except the burst.
 */
export function createThrottle({ bytesPerSecond, clock }: ThrottleOptions): Throttle {
  let takenBytes = 0;
  let paidBytes = 0;
  let paidAtMs = clock.monotonicMs();
  /** @returns The current rate. */
  const pay = (): number => {
    const rate = bytesPerSecond();
    // Without a limit everything is paid for, and no time is needed.
    if (rate === undefined) {
      paidBytes = takenBytes;
      return Number.POSITIVE_INFINITY;
    }
    const nowMs = clock.monotonicMs();
    paidBytes = Math.min(takenBytes, paidBytes + (rate * (nowMs - paidAtMs)) / 1000);
    paidAtMs = nowMs;
    return rate;
  };
  /** @param own What was taken up to and including the call. */
  const waitMsOf = (own: number): number => {
    const rate = pay();
    const waitMs = ((own - paidBytes) / rate - BURST_SECONDS) * 1000;
    // Sums of fractions of milliseconds come to a little more than they are.
    return waitMs > 1e-6 ? waitMs : 0;
  };
  const wait = async (bytes: number, own: number, signal: AbortSignal | undefined): Promise<void> => {
    for (let waitMs = waitMsOf(own); waitMs > 0; waitMs = waitMsOf(own))
      try {
        await clock.sleep(Math.min(waitMs, LOOKS_EVERY_MS), signal);
      } catch (error) {
        // Bytes that were not sent are free for others.
        paidBytes += bytes;
        throw error;
      }
  };
  return {
    take(bytes, signal) {
      pay();
      takenBytes += bytes;
      const own = takenBytes;
      return waitMsOf(own) > 0 ? wait(bytes, own, signal) : undefined;
    },
  };
}

async function* throttled(
  body: AsyncIterable<Uint8Array>,
  throttle: Throttle,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    await throttle.take(piece.byteLength, signal);
    yield piece;
  }
}

function throttledBody(
  body: ObjectRead['body'],
  throttle: Throttle,
  signal: AbortSignal | undefined,
): ObjectRead['body'] {
  return {
    destroy: () => body.destroy(),
    [Symbol.asyncIterator]: () => throttled(body, throttle, signal),
  };
}
