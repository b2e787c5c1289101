/** The state of one call of `readFiles`: results for the consumer, memory, and files to read again. */
import { DrayError, toDrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Lease } from '../../base/leased-memory.ts';
import type { Chunk } from '../../model/entry.ts';
import { describeFailure, FileFailure } from './open-file.ts';
import { type BatchReport, decodeBatch } from './read-batch.ts';
import type { LargeEnd } from './read-large.ts';
import type { ReaderSettings } from './read-limits.ts';
import type { ReadMemory } from './read-memory.ts';
import type { ReadBatch, ReadRequest, ReadResult } from './reader-types.ts';

/** Batches that can wait for the consumer before reading pauses; the budget bounds their bytes. */
const OUTBOX_MAX = 8;

/** A file that changes its class at every open fails after this many times. */
const RESIZED_MAX = 3;

export interface LargeRead {
  readonly request: ReadRequest;
  /** False: only hashed, in pieces. */
  readonly isCut: boolean;
  /** So far, in order. */
  readonly chunks: Chunk[];
}

export interface ReadRun {
  readonly settings: ReaderSettings;
  readonly memory: ReadMemory;
  /** Fires when the caller aborts, stops consuming, or `fail` is called. */
  readonly signal: AbortSignal;
  /** Files that turned out to have another size, to be planned again. */
  readonly resized: ReadRequest[];
  /** Passes on a batch's results. `lease`: of the bytes that were read. */
  deliverBatch(requests: readonly ReadRequest[], report: BatchReport, lease: Lease | undefined): void;
  /** Passes on chunks, which are at the start of `lease`'s bytes if bytes are requested. */
  deliverChunks(file: LargeRead, chunks: readonly Chunk[], lease: Lease | undefined): void;
  deliverEnd(file: LargeRead, end: LargeEnd): void;
  /** Waits until the consumer has caught up. Rejects with `aborted`. */
  room(): Promise<void>;
  /**
   * Waits until `look` returns something other than undefined or false; calls it again after each
   * `changed()`. Rejects with `aborted`.
   */
  until<T>(look: () => T | undefined | false): Promise<T>;
  changed(): void;
  /** Stops the run; the consumer gets the first error. */
  fail(error: unknown): void;
  /** Ends the run: everything was read. */
  end(): void;
  /** The next batch, or undefined at the end. For the consumer. */
  next(): Promise<ReadBatch | undefined>;
  /** Stops the run and releases what was not consumed. */
  close(): void;
}

export function createReadRun(settings: ReaderSettings, memory: ReadMemory, outer: AbortSignal): ReadRun {
  const inner = new AbortController();
  const outbox: ReadBatch[] = [];
  const resized: ReadRequest[] = [];
  const { change, changed } = createChanges();
  let failure: DrayError | undefined;
  let isEnded = false;

  const until = async <T>(look: () => T | undefined | false): Promise<T> => {
    for (;;) {
      checkAborted(inner.signal);
      const found = look();
      if (found !== undefined && found !== false) return found;
      await change();
    }
  };
  const deliver = (results: readonly ReadResult[], lease: Lease | undefined): void => {
    if (inner.signal.aborted || results.length === 0) {
      lease?.release();
      return;
    }
    outbox.push({ results, release: () => lease?.release() });
    changed();
  };
  const fail = (error: unknown): void => {
    failure ??= toDrayError(error);
    inner.abort();
    changed();
  };
  const readAgain = rereader(resized);
  const onAbort = () => fail(new DrayError('aborted', 'Stopped on request.', { cause: outer.reason }));
  outer.addEventListener('abort', onAbort, { once: true });
  if (outer.aborted) onAbort();

  return {
    settings,
    memory,
    signal: inner.signal,
    resized,
    deliverBatch(requests, report, lease) {
      const decoded = decodeBatch(report, requests, lease?.bytes);
      deliver([...decoded.results, ...decoded.resized.flatMap(readAgain)], lease);
    },
    deliverChunks(file, chunks, lease) {
      const results = chunkResults(file.request.id, chunks, lease?.bytes);
      for (const chunk of chunks) file.chunks.push(chunk);
      deliver(results, lease);
    },
    deliverEnd(file, end) {
      deliver(
        end.kind === 'resized'
          ? readAgain({ ...file.request, sizeBytes: end.sizeBytes })
          : [endResult(file, end)],
        undefined,
      );
    },
    async room() {
      await until(() => outbox.length < OUTBOX_MAX);
    },
    until,
    changed,
    fail,
    end() {
      isEnded = true;
      changed();
    },
    async next() {
      while (outbox.length === 0 && !isEnded && failure === undefined) await change();
      if (failure !== undefined) throw failure;
      const batch = outbox.shift();
      changed();
      return batch;
    },
    close() {
      outer.removeEventListener('abort', onAbort);
      inner.abort();
      for (const batch of outbox.splice(0)) batch.release();
      changed();
    },
  };
}

/** Wakes all waiters at each change. */
function createChanges() {
  let waiters: (() => void)[] = [];
  return {
    change: () => new Promise<void>((resolve) => waiters.push(resolve)),
    changed: (): void => {
      const woken = waiters;
      waiters = [];
      for (const wake of woken) wake();
    },
  };
}

/** Queues a resized file, or returns its failure once it was resized too often. */
function rereader(resized: ReadRequest[]): (request: ReadRequest) => ReadResult[] {
  const counts = new Map<number, number>();
  return (request) => {
    const count = (counts.get(request.id) ?? 0) + 1;
    counts.set(request.id, count);
    if (count > RESIZED_MAX) return [unsteady(request)];
    resized.push(request);
    return [];
  };
}

function chunkResults(id: number, chunks: readonly Chunk[], bytes: Uint8Array | undefined): ReadResult[] {
  let offset = 0;
  return chunks.map(({ hash, sizeBytes }) => {
    if (bytes === undefined) return { kind: 'chunk', id, hash, sizeBytes };
    const view = bytes.subarray(offset, offset + sizeBytes);
    offset += sizeBytes;
    return { kind: 'chunk', id, hash, sizeBytes, bytes: view };
  });
}

function endResult(file: LargeRead, end: Exclude<LargeEnd, { kind: 'resized' }>): ReadResult {
  const { id } = file.request;
  if (end.kind === 'failed') return { kind: 'failed', id, error: end.error };
  const { stat, hash } = end;
  return file.isCut
    ? { kind: 'chunked', id, stat, hash, chunks: file.chunks }
    : { kind: 'whole', id, stat, hash };
}

function unsteady({ id, path }: ReadRequest): ReadResult {
  const error = describeFailure(path, new FileFailure('changedWhileRead'));
  return { kind: 'failed', id, error };
}
