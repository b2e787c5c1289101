/**
 * Seals and opens content. What is large and lies in shared memory is left to threads, which start once there
 * is enough to do (about 40 ms); until then the caller's thread works.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Budget } from '../../base/budget.ts';
import { createLeasedMemory } from '../../base/leased-memory.ts';
import { createWorkerPool } from '../../base/worker-pool.ts';
import { type OpenedContent, type SealedBytes, sealBytes } from '../../sealing/sealed-content.ts';
import { paddedBytes, sealedBytesOf } from '../../sealing/sealed-form.ts';
import { type OpenTask, openTask, runSealTask, type SealingTask } from './seal-task.ts';

export interface SealThreads {
  /** The caller disposes of the result once nobody reads its bytes any more. */
  seal(cipherKey: Uint8Array, content: Uint8Array, signal?: AbortSignal): Promise<SealedBytes & Disposable>;
  /**
   * @param isOurs The memory of the stored bytes may be changed: the content takes their place
   * @param into Otherwise its memory, if it is large enough
   * @throws `damaged`
   */
  open(task: OpenTask, isOurs: boolean, into?: Uint8Array): Promise<OpenedContent>;
  /** Waits for calls in flight. */
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
/** One thread seals more than 1 GiB a second; the rest of the work needs the other cores. */
const THREADS_MAX = 2;
const INLINE_BYTES_MAX = 8 * MIB;
/** Less is not worth a message. */
const TASK_BYTES_MIN = 256 * 1024;
/** Sealed bytes on their way to the store, as many as a push holds of content. */
const MEMORY_BYTES = 96 * MIB;
/** More is sealed in memory of its own. */
const LEASED_BYTES_MAX = 64 * MIB;
// The bundle has the worker beside its main file.
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './seal-worker.ts' : './seal-worker.js',
  import.meta.url,
);

export function createSealThreads(): SealThreads {
  const { signal: never } = new AbortController();
  const memory = createLeasedMemory({
    budget: new Budget(MEMORY_BYTES),
    largestBytes: LEASED_BYTES_MAX,
    open: (lengthBytes) => ({ buffer: new SharedArrayBuffer(lengthBytes), start: 0 }),
  });
  const pool = createWorkerPool<SealingTask, readonly number[]>({
    work: 'seals content',
    signal: never,
    openThread: () => new Worker(WORKER_URL, { name: 'dray-seal', execArgv: [] }),
    toMessage: (task) => ({ message: task, moved: [] }),
    toResult: (result) => result,
    runHere: runSealTask,
  });
  const threads = Math.max(1, Math.min(THREADS_MAX, Math.floor(availableParallelism() / 2)));
  let seenBytes = 0;
  const run = (task: SealingTask, { length }: Uint8Array) => {
    seenBytes += length;
    if (seenBytes > INLINE_BYTES_MAX) while (pool.size() < threads) pool.open();
    return pool.run(task);
  };
  return {
    async seal(cipherKey, content, signal = never) {
      const bytes = sealedBytesOf(paddedBytes(content.length));
      if (content.length < TASK_BYTES_MIN || bytes > LEASED_BYTES_MAX)
        return { ...sealBytes(cipherKey, content), [Symbol.dispose]() {} };
      const lease = await memory.take(bytes, signal);
      try {
        const into = lease.bytes.subarray(0, bytes);
        const task = { kind: 'seal', cipherKey, content, into } as const;
        const [sum] = isShared(content) ? await run(task, content) : runSealTask(task);
        return { bytes: into, sum: sum!, [Symbol.dispose]: lease.release };
      } catch (error) {
        lease.release();
        throw error;
      }
    },
    async open(task, isOurs, into) {
      const { stored } = task;
      if (!isOurs || !isShared(stored) || stored.length < TASK_BYTES_MIN)
        return openTask(task, isOurs ? stored : into);
      const [start, length, sizeBytes] = await run({ kind: 'open', ...task }, stored);
      return { content: stored.subarray(start, start! + length!), sizeBytes: sizeBytes! };
    },
    close: pool.close,
  };
}

function isShared({ buffer }: Uint8Array): boolean {
  return buffer instanceof SharedArrayBuffer;
}
