/**
 * Compresses blobs in worker threads, in place: they lie in shared memory, and what is stored is smaller.
 * Threads start once there is enough to do (about 40 ms); until then the caller's thread works.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { createWorkerPool } from '../base/worker-pool.ts';
import type { Compression } from '../model/layout.ts';
import { type CompressTask, compressSpans } from './compress-spans.ts';

export interface CompressThreads {
  /**
   * Replaces the start of each blob by its frame where that pays. All lie in one shared memory.
   * @returns The bytes of each to store: the length of a blob that stays as it is.
   */
  compress(blobs: readonly Uint8Array[]): Promise<readonly number[]>;
  /** Waits for calls in flight. */
  close(): Promise<void>;
}

const THREADS_MAX = 8;
const INLINE_BYTES_MAX = 8 * 1024 * 1024;
/** Small enough that threads finish a batch together. */
const TASK_BYTES = 256 * 1024;
// The bundle has the worker beside its main file.
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './compress-worker.ts' : './compress-worker.js',
  import.meta.url,
);

export function createCompressThreads(
  compression: Compression,
  { signal, threads = Math.min(THREADS_MAX, availableParallelism()) }: CompressThreadsOptions,
): CompressThreads {
  const pool = createWorkerPool<CompressTask, Float64Array>({
    work: 'compresses',
    signal,
    openThread: () => new Worker(WORKER_URL, { name: 'dray-compress', execArgv: [] }),
    toMessage: (task) => ({ message: task, moved: [] }),
    toResult: (stored) => stored,
    runHere: compressSpans,
  });
  let seenBytes = 0;
  return {
    async compress(blobs) {
      for (const { length } of blobs) seenBytes += length;
      if (seenBytes > INLINE_BYTES_MAX) while (pool.size() < threads) pool.open();
      const stored = await Promise.all(tasksOf(blobs, compression).map((task) => pool.run(task)));
      return stored.flatMap((part) => [...part]);
    },
    close: pool.close,
  };
}

interface CompressThreadsOptions {
  readonly signal: AbortSignal;
  readonly threads?: number;
}

function tasksOf(blobs: readonly Uint8Array[], compression: CompressTask['compression']): CompressTask[] {
  const tasks: CompressTask[] = [];
  let spans: number[] = [];
  let taskBytes = 0;
  for (const [index, { buffer, byteOffset, length }] of blobs.entries()) {
    spans.push(byteOffset, length);
    taskBytes += length;
    if (taskBytes < TASK_BYTES && index < blobs.length - 1) continue;
    tasks.push({ compression, memory: buffer as SharedArrayBuffer, spans: Float64Array.from(spans) });
    spans = [];
    taskBytes = 0;
  }
  return tasks;
}
