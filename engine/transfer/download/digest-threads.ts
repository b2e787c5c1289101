/**
 * Computes running digests in worker threads. MD5 takes a core 1.4 s for each GB, and a download has only one
 * thread for the network. Up to four MD5s share a thread, which computes them side by side in a third of the
 * time.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { DrayError } from '../../api/error.ts';
import { MD5_LANES } from '../../checksums/md5-lanes.ts';
import type { DigestAnswer, DigestRequest } from './digest-worker.ts';

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
  /** Resolves when the threads have ended. Later calls of a digest are never answered. */
  close(): Promise<void>;
}

/** In the caller's thread. */
export const openDigest: OpenDigest = (algorithm) => {
  const hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), end: () => hash.digest() };
};

const THREADS_MAX = 4;

interface Waiting {
  readonly resolve: (digest: Uint8Array | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly exited: Promise<void>;
  /** By digest, each in the order of its requests. */
  readonly waiting: Map<number, Waiting[]>;
  digests: number;
}

/** Starts threads as digests are opened, at most one less than there are cores. */
export function createDigestThreads(
  threadsMax = Math.min(THREADS_MAX, Math.max(1, availableParallelism() - 1)),
): DigestThreads {
  const threads: Thread[] = [];
  let nextId = 0;
  let broken: DrayError | undefined;

  function start(): Thread {
    // The bundle has the worker beside its main file.
    const name = import.meta.url.endsWith('.ts') ? './digest-worker.ts' : './digest-worker.js';
    const worker = new Worker(new URL(name, import.meta.url), { name: 'dray-digest', execArgv: [] });
    const exited = new Promise<void>((done) => worker.once('exit', () => done()));
    const thread: Thread = { worker, exited, waiting: new Map(), digests: 0 };
    worker.on('message', (answer: DigestAnswer) => {
      const waiting = thread.waiting.get(answer.id)!;
      const { resolve } = waiting.shift()!;
      if (waiting.length === 0) thread.waiting.delete(answer.id);
      // An idle thread does not keep the process alive.
      if (thread.waiting.size === 0) worker.unref();
      resolve(answer.digest);
    });
    worker.on('error', (cause) => {
      broken = new DrayError('internal', `A thread that computes digests died: ${cause}`, { cause });
      for (const { reject } of [...thread.waiting.values()].flat()) reject(broken);
      thread.waiting.clear();
    });
    worker.unref();
    threads.push(thread);
    return thread;
  }

  function pick(algorithm: DigestAlgorithm): Thread {
    const least = threads.reduce<Thread | undefined>(
      (best, thread) => (best && best.digests <= thread.digests ? best : thread),
      undefined,
    );
    const side = algorithm === 'md5' ? MD5_LANES : 1;
    return !least || (least.digests >= side && threads.length < threadsMax) ? start() : least;
  }

  function ask({ waiting, worker }: Thread, request: DigestRequest): Promise<Uint8Array | undefined> {
    if (broken) return Promise.reject(broken);
    return new Promise((resolve, reject) => {
      // First: a message that cannot be sent gets no answer, and answers go to the oldest request of their
      // digest.
      worker.postMessage(request);
      if (waiting.size === 0) worker.ref();
      const ofDigest = waiting.get(request.id) ?? [];
      waiting.set(request.id, ofDigest);
      ofDigest.push({ resolve, reject });
    });
  }

  return {
    open(algorithm) {
      const thread = pick(algorithm);
      thread.digests += 1;
      const id = nextId++;
      return {
        update: async (bytes) => void (await ask(thread, { id, algorithm, bytes })),
        async end() {
          thread.digests -= 1;
          return (await ask(thread, { id, algorithm }))!;
        },
      };
    },
    async close() {
      // The thread exits by itself once it has started: terminating one while it loads native code ends the
      // whole process.
      for (const { worker } of threads) {
        worker.ref();
        worker.postMessage('end');
      }
      await Promise.all(threads.map(({ exited }) => exited));
    },
  };
}
