/**
 * Distributes tasks to worker threads. They start once the work is worth their start (about 40 ms); until
 * then, and with no threads allowed, tasks run in the caller's thread.
 */
import { isMarkedAsUntransferable, Worker } from 'node:worker_threads';
import { createWorkerPool, type StopFlag } from '../../base/worker-pool.ts';
import type { DiskRefusals } from '../disk/disk-refusals.ts';
import { packTask, unpackResult } from './writer-message.ts';
import { runWriteTask, type TaskResults, type WriteTask } from './writer-task.ts';
import { openWriteThread, type WriteThread, type WriteThreadData } from './writer-thread.ts';

/** Above either bound, the expected work is worth starting threads. */
const INLINE_FILES_MAX = 400;
const INLINE_BYTES_MAX = 16 * 1024 * 1024;
// The bundle has the worker beside its main file. The host's own flags (`--input-type`, say) do not apply to
// a thread.
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './write-worker.ts' : './write-worker.js',
  import.meta.url,
);

export interface WriteThreads {
  /** Announces work before its tasks are run. */
  expect(files: number, bytes: number): void;
  /**
   * Runs a task in the least busy thread. Throws the task's error, or `aborted` when the writer is stopped.
   * The task's buffer moves to the thread when it is `movable`.
   */
  run<K extends WriteTask['kind']>(kind: K, task: TaskOf<K>): Promise<TaskResults[K]>;
  /** One thread for tasks that must follow each other. */
  lane(): WriteLane;
  /** Resolves when no task is in flight. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export type WriteLane = Pick<WriteThreads, 'run'>;
type TaskOf<K extends WriteTask['kind']> = Extract<WriteTask, { kind: K }>;
type Result = TaskResults[WriteTask['kind']];

export interface WriteThreadsOptions {
  readonly root: string;
  readonly isWatchful: boolean;
  /** Called with the first task. */
  readonly temporaryPrefix: () => string;
  readonly threads: number;
  readonly refusals: DiskRefusals | undefined;
  readonly signal: AbortSignal;
}

export function openWriteThreads(options: WriteThreadsOptions): WriteThreads {
  const { isWatchful, refusals, root, signal, threads } = options;
  let inline: WriteThread | undefined;
  let filesExpected = 0;
  let bytesExpected = 0;
  const dataOf = (number: number, stop: StopFlag): WriteThreadData => ({
    root,
    isWatchful,
    refusals,
    temporaryPrefix: `${options.temporaryPrefix()}${number}.`,
    stop: stop(),
  });
  const pool = createWorkerPool<WriteTask, Result>({
    work: 'writes files',
    signal,
    openThread: (number, stop) =>
      new Worker(WORKER_URL, { name: 'dray-write', workerData: dataOf(number, stop), execArgv: [] }),
    toMessage: (task) => ({ message: packTask(task), moved: transferable(task) }),
    toResult: unpackResult,
    async runHere(task, stop) {
      inline ??= await openWriteThread(dataOf(0, stop));
      return runWriteTask(inline, task);
    },
  });
  return {
    expect(files, bytes) {
      filesExpected += files;
      bytesExpected += bytes;
      if (filesExpected > INLINE_FILES_MAX || bytesExpected > INLINE_BYTES_MAX)
        while (pool.size() < threads) pool.open();
    },
    run: (_kind, task) => pool.run(task) as never,
    lane() {
      const run = pool.lane();
      return { run: (_kind, task) => run(task) as never };
    },
    idle: pool.idle,
    close: pool.close,
  };
}

/** The buffers that can move: those that contain only the task's bytes. */
function transferable(task: WriteTask): ArrayBuffer[] {
  if (!('bytes' in task)) return [];
  const { buffer, byteLength } = task.bytes;
  if (!(buffer instanceof ArrayBuffer) || byteLength === 0 || buffer.byteLength !== byteLength) return [];
  return isMarkedAsUntransferable(buffer) ? [] : [buffer];
}
