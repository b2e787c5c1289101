/**
 * Computes running digests in worker threads. MD5 takes a core 1.4 s for each GB, and a download has only one
 * thread for the network. Up to four MD5s share a thread, which computes them side by side in a third of the
 * time.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { createWorkerPool, type RunTask } from '../../base/worker-pool.ts';
import { MD5_LANES } from '../../checksums/md5-lanes.ts';
import type { DigestTask } from './digest-worker.ts';

export type DigestAlgorithm = 'md5' | 'sha256';

/** A digest of bytes that arrive in order. */
export interface RunningDigest {
  /** The next bytes. They must not change before it resolves. */
  update(bytes: Uint8Array): void | Promise<void>;
  /** Call it once, at the end. */
  end(): Uint8Array | Promise<Uint8Array>;
}

export type OpenDigest = (algorithm: DigestAlgorithm) => RunningDigest;

export interface DigestThreads {
  /**
   * Threads read shared memory in place; other bytes are copied. @throws DrayError `internal` from its calls
   * when the thread dies.
   */
  readonly open: OpenDigest;
  /** Waits for calls in flight, then ends the threads. Must be the last call. */
  close(): Promise<void>;
}

/** In the caller's thread. */
export const openDigest: OpenDigest = (algorithm) => {
  const hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), end: () => hash.digest() };
};

const THREADS_MAX = 4;
// The bundle has the worker beside its main file.
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './digest-worker.ts' : './digest-worker.js',
  import.meta.url,
);

type DigestResult = Uint8Array | undefined;

interface DigestThread {
  readonly run: RunTask<DigestTask, DigestResult>;
  digests: number;
}

/**
 * Starts a thread when a digest needs one; the most threads is the number of cores minus one. Calls fail with
 * `aborted` once the signal has fired.
 */
export function createDigestThreads(
  signal: AbortSignal,
  threadsMax = Math.min(THREADS_MAX, Math.max(1, availableParallelism() - 1)),
): DigestThreads {
  const threads: DigestThread[] = [];
  const pool = createWorkerPool<DigestTask, DigestResult>({
    work: 'computes digests',
    signal,
    openThread: () => new Worker(WORKER_URL, { name: 'dray-digest', execArgv: [] }),
    toMessage: (task) => ({ message: task, moved: [] }),
    toResult: (digest) => digest,
  });
  let nextDigest = 0;

  function start(): DigestThread {
    const thread = { run: pool.open().run, digests: 0 };
    threads.push(thread);
    return thread;
  }

  function pick(algorithm: DigestAlgorithm): DigestThread {
    const least = threads.reduce<DigestThread | undefined>(
      (best, thread) => (best && best.digests <= thread.digests ? best : thread),
      undefined,
    );
    const side = algorithm === 'md5' ? MD5_LANES : 1;
    return !least || (least.digests >= side && threads.length < threadsMax) ? start() : least;
  }

  return {
    open(algorithm) {
      const thread = pick(algorithm);
      thread.digests += 1;
      const digest = nextDigest++;
      return {
        update: async (bytes) => void (await thread.run({ digest, algorithm, bytes })),
        async end() {
          thread.digests -= 1;
          return (await thread.run({ digest, algorithm }))!;
        },
      };
    },
    close: pool.close,
  };
}
