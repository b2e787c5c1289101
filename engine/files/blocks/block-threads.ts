/**
 * Distributes block tasks to worker threads, which start once the work is worth their start (about 40 ms).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { DrayError, fromErrorRecord } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { type BlockResult, type BlockTask, workOf } from './block-tasks.ts';
import { type BlockThread, createBlockThread } from './block-thread.ts';
import type { BlockAnswer, BlockRequest, BlockWorkerData } from './block-worker.ts';

/** Up to this size tasks run in the caller's thread, one per tick. */
const INLINE_BYTES_MAX = 16 * 1024 * 1024;
/** One running and one waiting: a thread never idles, and few tasks are bound to a slow one. */
const TASKS_PER_THREAD = 2;

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

interface Job {
  readonly task: BlockTask;
  readonly resolve: (result: BlockResult) => void;
  readonly reject: (error: unknown) => void;
}

interface Member {
  readonly worker: Worker;
  readonly jobs: Map<number, Job>;
}

const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './block-worker.ts' : './block-worker.js',
  import.meta.url,
);

export function openBlockThreads({ signal, threads }: BlockThreadsOptions): BlockThreads {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const members: Member[] = [];
  const queue: Job[] = [];
  const running = new Set<Promise<unknown>>();
  let inline: BlockThread | undefined;
  let lastInline: Promise<unknown> = Promise.resolve();
  let broken: DrayError | undefined;
  let nextId = 0;
  let askedBytes = 0;

  const onAbort = () => {
    Atomics.store(stop, 0, 1);
    for (const job of queue.splice(0)) job.reject(new DrayError('aborted', 'Stopped on request.'));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });

  function openMember(): Member {
    const workerData: BlockWorkerData = { stop };
    const worker = new Worker(WORKER_URL, { name: 'dray-blocks', workerData, execArgv: [] });
    const member: Member = { worker, jobs: new Map() };
    worker.on('message', (answer: BlockAnswer) => settle(member, answer));
    worker.on('error', (cause) => fail(member, cause));
    // An idle thread does not keep the process alive.
    worker.unref();
    members.push(member);
    return member;
  }

  function settle(member: Member, answer: BlockAnswer): void {
    const job = member.jobs.get(answer.id)!;
    member.jobs.delete(answer.id);
    const next = queue.shift();
    if (next) post(member, next);
    if (member.jobs.size === 0) member.worker.unref();
    if ('error' in answer) job.reject(fromErrorRecord(answer.error));
    else job.resolve(answer.result);
  }

  /** The state of a dead thread's task is unknown, so no more tasks are accepted. */
  function fail(member: Member, cause: unknown): void {
    const message = cause instanceof Error ? cause.message : String(cause);
    broken = new DrayError('internal', `A thread that works on blocks died: ${message}`, { cause });
    for (const job of [...member.jobs.values(), ...queue.splice(0)]) job.reject(broken);
    member.jobs.clear();
  }

  function post(member: Member, job: Job): void {
    nextId += 1;
    if (member.jobs.size === 0) member.worker.ref();
    member.jobs.set(nextId, job);
    member.worker.postMessage({ id: nextId, task: job.task } satisfies BlockRequest);
  }

  function pickMember(): Member | undefined {
    const idle = members.find(({ jobs }) => jobs.size === 0);
    if (idle) return idle;
    if (members.length < threads) return openMember();
    const least = members.reduce((a, b) => (b.jobs.size < a.jobs.size ? b : a));
    return least.jobs.size < TASKS_PER_THREAD ? least : undefined;
  }

  /** One after the other, each in a tick of its own, so that the caller's thread can react to the signal. */
  function runInline(task: BlockTask): Promise<BlockResult> {
    const work = lastInline.then(async () => {
      await nextTurn();
      checkAborted(signal);
      inline ??= createBlockThread(stop);
      return inline.run(task);
    });
    lastInline = work.catch(() => undefined);
    return work;
  }

  function runInThread(task: BlockTask): Promise<BlockResult> {
    return new Promise((resolve, reject) => {
      const job = { task, resolve, reject };
      const member = pickMember();
      if (member) post(member, job);
      else queue.push(job);
    });
  }

  return {
    async run(task) {
      checkAborted(signal);
      if (broken) throw broken;
      askedBytes += workOf(task);
      const isInline = threads === 0 || (members.length === 0 && askedBytes <= INLINE_BYTES_MAX);
      const work = isInline ? runInline(task) : runInThread(task);
      running.add(work);
      try {
        return await work;
      } finally {
        running.delete(work);
      }
    },
    async close() {
      while (running.size > 0) await Promise.allSettled(running);
      signal.removeEventListener('abort', onAbort);
      await Promise.all(members.splice(0).map(({ worker }) => worker.terminate()));
    },
  };
}
