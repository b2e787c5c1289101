/**
 * The one place where Dray repeats requests. It wraps any store, above the meter, so that repetitions are
 * counted.
 *
 * Repeated: calls that failed with a retryable error, under `RetryPolicy`. Not repeated: a `get` body that
 * breaks after it began, and `putStream`, whose source can be read only once. The callers of both start
 * again. Two exceptions: with `isResumed` a body continues where it broke (`resumed-body.ts`), and a store
 * that takes streams in parts has each part repeated.
 *
 * A request that failed may have happened all the same (its answer was lost). Repeating is then harmless for
 * everything but a condition, which now meets our own write and fails. So after such a failure a condition
 * that does not hold is examined: if the object has the bytes that we wrote, the write happened. Two writers
 * that write equal bytes both win then; where that matters, the bytes must differ between writers.
 * The same holds for a copy of an object onto itself, which may change its etag: it happened if the object
 * has the expected size and metadata.
 */
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import {
  createRetryBudget,
  type Failures,
  type RetryBudget,
  type RetryPolicy,
  retrying,
} from '../../base/retry.ts';
import { comparePaths } from '../../model/entry.ts';
import type { EntriesOptions, FileCalls, ServedEntry } from '../file-calls.ts';
import type {
  CopyOptions,
  MultipartStore,
  MultipartUpload,
  ObjectStore,
  PutOutcome,
  RemoteKey,
} from '../object-store.ts';
import { resumed } from './resumed-body.ts';
import { wrapStore } from './wrap-store.ts';

export interface RetryOptions {
  readonly clock: Clock;
  /** Default 8. */
  readonly attemptsMax?: number;
  /** Default 100 ms. */
  readonly baseDelayMs?: number;
  /** Default 20 s. */
  readonly maxDelayMs?: number;
  /** Shared by all calls of this store. */
  readonly budget?: RetryBudget;
  /** Called with each failure that is about to be retried: the adaptive concurrency listens here. */
  readonly onRetry?: (error: DrayError) => void;
}

export function withRetry(store: ObjectStore, options: RetryOptions): ObjectStore {
  const policy: RetryPolicy = {
    clock: options.clock,
    attemptsMax: options.attemptsMax ?? 8,
    baseDelayMs: options.baseDelayMs ?? 100,
    maxDelayMs: options.maxDelayMs ?? 20_000,
    budget: options.budget ?? createRetryBudget(),
    ...(options.onRetry && { onRetry: options.onRetry }),
  };
  const repeated = wrapStore(store, (_name, signal, send) => retrying(policy, signal, send));
  const multipart = store.multipart && {
    ...repeated.multipart!,
    complete: completeAgain(store, store.multipart, policy),
  };
  const wrapped: ObjectStore = {
    ...repeated,
    get: async (key, call) => {
      const read = await repeated.get(key, call);
      return read && call?.isResumed ? resumed(store, policy, { key, call, read }) : read;
    },
    put: (key, bytes, put) =>
      retrying(policy, put?.signal, async (failures) => {
        const outcome = await store.put(key, bytes, put);
        if (outcome.written || !mayHaveHappened(failures)) return outcome;
        return (await ownWrite(store, key, bytes, put?.signal)) ?? outcome;
      }),
    putStream: (key, body, put = {}) =>
      multipart?.putStreamBy
        ? multipart.putStreamBy({ head: wrapped.head, put: wrapped.put, multipart }, key, body, put)
        : store.putStream(key, body, put),
    copy: copyAgain(store, policy),
    ...(multipart && { multipart }),
    ...(repeated.files && {
      files: { ...repeated.files, entries: (call) => entriesOf(store.files!, policy, call) },
    }),
  };
  return wrapped;
}

function copyAgain(store: ObjectStore, policy: RetryPolicy): ObjectStore['copy'] {
  return (from, to, call) =>
    retrying(policy, call?.signal, async (failures) => {
      try {
        return await store.copy(from, to, call);
      } catch (error) {
        if (!(error instanceof DrayError) || error.code !== 'conflict' || from !== to) throw error;
        const outcome = mayHaveHappened(failures) ? await ownCopy(store, to, call) : undefined;
        if (!outcome) throw error;
        return outcome;
      }
    });
}

function completeAgain(
  store: ObjectStore,
  multipart: MultipartStore,
  policy: RetryPolicy,
): MultipartStore['complete'] {
  return (upload, parts, put) =>
    retrying(policy, put?.signal, async (failures) => {
      const completed = () => ownUpload(store, upload, sumOf(parts), put?.signal);
      try {
        const outcome = await multipart.complete(upload, parts, put);
        if (outcome.written || !mayHaveHappened(failures)) return outcome;
        return (await completed()) ?? outcome;
      } catch (error) {
        // The upload is gone once it is complete, so a repeated completion does not find it.
        if (!(error instanceof DrayError) || error.code !== 'notFound') throw error;
        const outcome = mayHaveHappened(failures) ? await completed() : undefined;
        if (!outcome) throw error;
        return outcome;
      }
    });
}

/**
 * An interrupted listing continues after the last received entry. For a caller that needs problems or
 * parts it starts again, without the entries already given: these are reported at the end, and a continued
 * listing would miss those before.
 */
async function* entriesOf(
  files: FileCalls,
  policy: RetryPolicy,
  call: EntriesOptions,
): AsyncGenerator<readonly ServedEntry[]> {
  let last: string | undefined;
  let pages = files.entries(call);
  const beginAgain = () => {
    const needsEnd = call.onProblem !== undefined || call.onPart !== undefined;
    pages = files.entries(needsEnd || last === undefined ? call : { ...call, after: last });
  };
  const nextNew = async (): Promise<IteratorResult<readonly ServedEntry[]>> => {
    for (;;) {
      const page = await pages.next();
      if (page.done || last === undefined) return page;
      const lastGiven = last;
      const value = page.value.filter(({ key }) => comparePaths(key, lastGiven) > 0);
      if (value.length > 0) return { done: false, value };
    }
  };
  try {
    for (;;) {
      const { done, value } = await retrying(policy, call.signal, (failures) => {
        if (failures.length === 0) return pages.next();
        beginAgain();
        return nextNew();
      });
      if (done) return;
      last = value.at(-1)?.key ?? last;
      yield value;
    }
  } finally {
    await pages.return(undefined);
  }
}

/** A refused request was not carried out. Every other failure leaves that open. */
function mayHaveHappened(failures: Failures): boolean {
  return failures.some((failure) => failure.code !== 'slowDown' && failure.code !== 'checksumRefused');
}

/**
 * The outcome of our earlier write, if the object holds exactly these bytes. Compared piece by piece, to hold
 * nothing twice.
 */
async function ownWrite(
  store: ObjectStore,
  key: RemoteKey,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<PutOutcome | undefined> {
  const read = await store.get(key, signal ? { signal } : {});
  if (!read) return undefined;
  try {
    if (read.sizeBytes !== bytes.byteLength) return undefined;
    let at = 0;
    for await (const piece of read.body) {
      if (Buffer.compare(piece, bytes.subarray(at, at + piece.byteLength)) !== 0) return undefined;
      at += piece.byteLength;
    }
    return at === bytes.byteLength ? { written: true, etag: read.etag } : undefined;
  } finally {
    read.body.destroy();
  }
}

/** The outcome of our earlier copy onto itself, if the object has the description that it set. */
async function ownCopy(
  store: ObjectStore,
  key: RemoteKey,
  { description, signal, sizeBytes }: CopyOptions = {},
): Promise<PutOutcome | undefined> {
  const wanted = Object.entries(description?.metadata ?? {});
  // Nothing would distinguish our copy from the old object.
  if (wanted.length === 0 || sizeBytes === undefined) return undefined;
  const info = await store.head(key, signal ? { signal } : {});
  const isOurs =
    info?.sizeBytes === sizeBytes &&
    Object.keys(info.metadata ?? {}).length === wanted.length &&
    wanted.every(([name, value]) => info.metadata?.[name.toLowerCase()] === value);
  return isOurs ? { written: true, etag: info.etag } : undefined;
}

/**
 * The outcome of our earlier completion. Its bytes are not read again: the upload no longer exists, which
 * only its completion or its abort causes, and the object has its size.
 */
async function ownUpload(
  store: ObjectStore,
  upload: MultipartUpload,
  sizeBytes: number,
  signal: AbortSignal | undefined,
): Promise<PutOutcome | undefined> {
  const call = signal ? { signal } : {};
  const info = await store.head(upload.key, call);
  if (info?.sizeBytes !== sizeBytes) return undefined;
  const isHeld = await store.multipart!.listParts(upload, call).then(
    () => true,
    (error: unknown) => {
      if (error instanceof DrayError && error.code === 'notFound') return false;
      throw error;
    },
  );
  return isHeld ? undefined : { written: true, etag: info.etag };
}

function sumOf(parts: readonly { readonly sizeBytes: number }[]): number {
  return parts.reduce((sum, part) => sum + part.sizeBytes, 0);
}
