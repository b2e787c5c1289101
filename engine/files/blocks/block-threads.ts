/**
 * Distributes block tasks to worker threads, which start once the work is worth their start (about 40 ms).
 */
import { Worker } from 'node:worker_threads';
import { createWorkerPool } from '../../base/worker-pool.ts';
import { type BlockResult, type BlockTask, workOf } from './block-tasks.ts';
import { type BlockThread, createBlockThread } from './block-thread.ts';
import type { BlockWorkerData } from './block-worker.ts';

/** Up to this size tasks run in the caller's thread, one per tick. */
const INLINE_BYTES_MAX = 16 * 1024 * 1024;

export interface BlockThreads {
  /** Throws the task's error (`io`, `diskFull`, `unsafePath`), or `aborted` once the signal has fired. */
  run(task: BlockTask): Promise<BlockResult>;
  /** Waits for tasks in flight. */
  close(): Promise<void>;
}

export interface BlockThreadsOptions {
  /** 0: everything runs in the caller's thread. */
  readonly threads: number;
  readonly signal: AbortSignal;
}

const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './block-worker.ts' : './block-worker.js',
  import.meta.url,
);

export function openBlockThreads({ signal, threads }: BlockThreadsOptions): BlockThreads {
  let inline: BlockThread | undefined;
  let askedBytes = 0;
  const pool = createWorkerPool<BlockTask, BlockResult>({
    work: 'works on blocks',
    signal,
    openThread(_number, stop) {
      const workerData: BlockWorkerData = { stop: stop() };
      return new Worker(WORKER_URL, { name: 'dray-blocks', workerData, execArgv: [] });
    },
    toMessage: (task) => ({ message: task, moved: [] }),
    toResult: (result) => result,
    runHere(task, stop) {
      inline ??= createBlockThread(stop());
      return inline.run(task);
    },
  });
  return {
    async run(task) {
      askedBytes += workOf(task);
      const isWorthThreads = pool.size() > 0 || askedBytes > INLINE_BYTES_MAX;
      if (isWorthThreads && pool.size() < threads && !pool.hasIdle() && !signal.aborted) pool.open();
      return pool.run(task);
    },
    close: pool.close,
  };
}
