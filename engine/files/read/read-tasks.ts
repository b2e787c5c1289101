/** Groups files into tasks, each the work of one message to a thread. */
import { DrayError } from '../../api/error.ts';
import {
  BATCH_BYTES_MAX,
  BATCH_REQUESTS_MAX,
  classOf,
  type FileClass,
  type ReaderSettings,
} from './read-limits.ts';
import type { ReadRequest } from './reader-types.ts';

export type ReadTask =
  | { readonly kind: 'batch'; readonly requests: readonly ReadRequest[]; readonly sizeBytes: number }
  | { readonly kind: Exclude<FileClass, 'batch'>; readonly request: ReadRequest };

export type ReadRequests = Iterable<ReadRequest> | AsyncIterable<ReadRequest>;

/** Runs tasks: on this thread or on others. */
export interface TaskRunner {
  /** Resolves when the next task can be started, which may be before this one ends. */
  start(task: ReadTask): Promise<void>;
  /** Resolves when all started tasks have ended. */
  finish(): Promise<void>;
  /** Stops at once and frees everything. Idempotent. */
  close(): Promise<void>;
}

/** Rejects with `aborted` as soon as the signal fires, even while it waits for `requests`. */
export async function* tasksOf(
  requests: ReadRequests,
  settings: ReaderSettings,
  signal: AbortSignal,
): AsyncGenerator<ReadTask> {
  const source = openSource(requests, signal);
  let batch: ReadRequest[] = [];
  let sizeBytes = 0;
  try {
    for (;;) {
      const pulled = source.next();
      const step = pulled instanceof Promise ? await pulled : pulled;
      if (step.done) break;
      const request = step.value;
      const kind = classOf(request.sizeBytes, settings);
      if (kind !== 'batch') {
        yield { kind, request };
        continue;
      }
      const isOverfull = sizeBytes + request.sizeBytes > BATCH_BYTES_MAX && batch.length > 0;
      if (isOverfull || batch.length === BATCH_REQUESTS_MAX) {
        yield { kind, requests: batch, sizeBytes };
        batch = [];
        sizeBytes = 0;
      }
      batch.push(request);
      sizeBytes += request.sizeBytes;
    }
    if (batch.length > 0) yield { kind: 'batch', requests: batch, sizeBytes };
  } finally {
    source.close();
  }
}

interface Source {
  /** Returns a promise only where the source does: thousands of needless promises are slow. */
  next(): IteratorResult<ReadRequest> | Promise<IteratorResult<ReadRequest>>;
  close(): void;
}

function openSource(requests: ReadRequests, signal: AbortSignal): Source {
  const iterator: Iterator<ReadRequest> | AsyncIterator<ReadRequest> =
    Symbol.asyncIterator in requests ? requests[Symbol.asyncIterator]() : requests[Symbol.iterator]();
  let isEnded = false;
  let rejectPending: ((error: DrayError) => void) | undefined;
  const onAbort = () => rejectPending?.(new DrayError('aborted', 'Stopped on request.'));
  signal.addEventListener('abort', onAbort, { once: true });

  const track = (step: IteratorResult<ReadRequest>): IteratorResult<ReadRequest> => {
    isEnded = step.done === true;
    return step;
  };
  return {
    next() {
      if (signal.aborted) throw new DrayError('aborted', 'Stopped on request.');
      const step = iterator.next();
      if (!(step instanceof Promise)) return track(step);
      return new Promise<IteratorResult<ReadRequest>>((resolve, reject) => {
        rejectPending = reject;
        step.then(resolve, reject);
      }).then(track);
    },
    close() {
      signal.removeEventListener('abort', onAbort);
      if (isEnded) return;
      // Not awaited: a source that hangs must not delay its reader.
      Promise.resolve(iterator.return?.()).catch(() => undefined);
    },
  };
}
