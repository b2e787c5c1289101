/**
 * Distributes tasks to worker threads, or runs them in the caller's thread.
 *
 * A thread answers its tasks in order. When a thread dies, the state of its tasks is unknown, so the pool
 * fails them and accepts no more.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Transferable, Worker } from 'node:worker_threads';
import { DrayError, type ErrorRecord, fromErrorRecord } from '../api/error.ts';
import { checkAborted } from './abort.ts';

/** One running and one waiting: a thread never idles, and few tasks are bound to a slow one. */
const TASKS_PER_THREAD = 2;

export interface PoolRequest<Message> {
  readonly id: number;
  readonly task: Message;
}

/**
 * Asks a thread to close its port. Terminating one while it loads native code would end the whole process.
 */
export const POOL_END = 'end';

export type PoolAnswer<Message> =
  | { readonly id: number; readonly result: Message }
  | { readonly id: number; readonly error: ErrorRecord };

/** A message that is neither a task nor an answer, in either direction. */
export interface PoolNote<Message> {
  readonly note: Message;
}

/** Shared memory. Its first number is not 0 once the signal has fired. */
export type StopFlag = () => Int32Array;

export interface WorkerPoolOptions<Task, Result> {
  /** The work of the threads, for an error, such as `writes files`. */
  readonly work: string;
  readonly signal: AbortSignal;
  /** @param number From 1. */
  readonly openThread: (number: number, stop: StopFlag) => Worker;
  /** The task as a message, and the buffers that move to the thread. */
  readonly toMessage: (task: Task) => { readonly message: unknown; readonly moved: readonly Transferable[] };
  readonly toResult: (message: never) => Result;
  /** Required if tasks may start before a thread is open. */
  readonly runHere?: (task: Task, stop: StopFlag) => Result | Promise<Result>;
}

export type RunTask<Task, Result> = (task: Task) => Promise<Result>;

/** One thread, for tasks that must run in order. */
export interface PoolLane<Task, Result> {
  readonly run: RunTask<Task, Result>;
  /** Sends a note for the thread's current task. */
  notify(note: unknown): void;
}

export interface WorkerPool<Task, Result> {
  /** Threads that were opened. Without any, tasks run in the caller's thread. */
  size(): number;
  /** @param onNote Receives the notes of the new thread. */
  open(onNote?: (note: never) => void): PoolLane<Task, Result>;
  /** Whether an open thread has nothing to do. */
  hasIdle(): boolean;
  /**
   * Runs a task in the least busy thread. Throws the task's error, or `aborted` once the signal has fired.
   */
  readonly run: RunTask<Task, Result>;
  /** Runs a task in the least busy thread, after that thread's other tasks. */
  lane(): RunTask<Task, Result>;
  /** Resolves when no task is in flight. */
  idle(): Promise<void>;
  /** Waits for tasks in flight, and ends the threads. */
  close(): Promise<void>;
  /**
   * Terminates the threads at once. Tasks in flight fail once no thread uses their memory. Only for threads
   * that load no native code.
   */
  terminate(): Promise<void>;
}

interface Job<Task, Result> {
  readonly task: Task;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Member<Task, Result> {
  readonly worker: Worker;
  readonly exited: Promise<void>;
  readonly jobs: Map<number, Job<Task, Result>>;
}

export function createWorkerPool<Task, Result>(
  options: WorkerPoolOptions<Task, Result>,
): WorkerPool<Task, Result> {
  const { signal } = options;
  let flag: Int32Array | undefined;
  const stop = () => {
    flag ??= new Int32Array(new SharedArrayBuffer(4));
    if (signal.aborted) Atomics.store(flag, 0, 1);
    return flag;
  };
  const threads = createThreads(options, stop);
  const runHere = inTurn((task: Task) => {
    checkAborted(signal);
    return options.runHere!(task, stop);
  });
  const running = new Set<Promise<unknown>>();
  const onAbort = () => {
    if (flag) Atomics.store(flag, 0, 1);
    threads.rejectQueued();
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });

  function track(work: Promise<Result>): Promise<Result> {
    running.add(work);
    const forget = () => void running.delete(work);
    work.then(forget, forget);
    return work;
  }
  function runIn(member: Member<Task, Result> | undefined, task: Task, mayQueue: boolean) {
    if (signal.aborted) return Promise.reject(stopped());
    return track(member ? threads.run(member, task, mayQueue) : runHere(task));
  }
  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running);
  }

  return {
    size: threads.size,
    open(onNote) {
      const member = threads.open(onNote);
      return {
        run: (task) => runIn(member, task, false),
        notify: (note) => member.worker.postMessage({ note } satisfies PoolNote<unknown>),
      };
    },
    hasIdle: () => threads.leastBusy()?.jobs.size === 0,
    run: (task) => runIn(threads.leastBusy(), task, true),
    lane() {
      const member = threads.leastBusy();
      return (task) => runIn(member, task, false);
    },
    idle,
    async close() {
      await idle();
      signal.removeEventListener('abort', onAbort);
      await threads.end();
    },
    async terminate() {
      signal.removeEventListener('abort', onAbort);
      await threads.terminate();
    },
  };
}

function createThreads<Task, Result>(options: WorkerPoolOptions<Task, Result>, stop: StopFlag) {
  const members: Member<Task, Result>[] = [];
  const queue: Job<Task, Result>[] = [];
  let broken: DrayError | undefined;
  let isEnding = false;
  let nextId = 0;

  function open(onNote: ((note: never) => void) | undefined): Member<Task, Result> {
    const worker = options.openThread(members.length + 1, stop);
    const member = openMember<Task, Result>(worker, (cause) => {
      if (!isEnding) fail(member, cause);
    });
    worker.on('message', (message: PoolAnswer<never> | PoolNote<never>) => {
      if ('note' in message) onNote!(message.note);
      else settle(member, message);
    });
    members.push(member);
    return member;
  }

  function settle(member: Member<Task, Result>, answer: PoolAnswer<never>): void {
    const job = member.jobs.get(answer.id)!;
    member.jobs.delete(answer.id);
    const next = queue.shift();
    if (next) post(member, next);
    else if (member.jobs.size === 0) member.worker.unref();
    if ('error' in answer) job.reject(fromErrorRecord(answer.error));
    else job.resolve(options.toResult(answer.result));
  }

  function fail(member: Member<Task, Result>, cause: unknown): void {
    const message = cause instanceof Error ? cause.message : String(cause);
    broken ??= new DrayError('internal', `A thread that ${options.work} died: ${message}`, { cause });
    rejectAll(member.jobs.values(), broken);
    rejectAll(queue.splice(0), broken);
    member.jobs.clear();
  }

  function post(member: Member<Task, Result>, job: Job<Task, Result>): void {
    nextId += 1;
    if (member.jobs.size === 0) member.worker.ref();
    member.jobs.set(nextId, job);
    const { message, moved } = options.toMessage(job.task);
    member.worker.postMessage({ id: nextId, task: message }, moved);
  }

  return {
    open,
    rejectQueued: () => rejectAll(queue.splice(0), stopped()),
    size: () => members.length,
    leastBusy(): Member<Task, Result> | undefined {
      let least: Member<Task, Result> | undefined;
      for (const member of members) if (!least || member.jobs.size < least.jobs.size) least = member;
      return least;
    },
    run(member: Member<Task, Result>, task: Task, mayQueue: boolean): Promise<Result> {
      if (broken) return Promise.reject(broken);
      return new Promise((resolve, reject) => {
        const job = { task, resolve, reject };
        if (mayQueue && member.jobs.size >= TASKS_PER_THREAD) queue.push(job);
        else post(member, job);
      });
    },
    async terminate(): Promise<void> {
      isEnding = true;
      const ended = members.splice(0);
      await Promise.all(ended.map(({ worker }) => worker.terminate()));
      for (const { jobs } of ended) rejectAll(jobs.values(), stopped());
    },
    async end(): Promise<void> {
      isEnding = true;
      await Promise.all(
        members.splice(0).map(({ exited, worker }) => {
          worker.ref();
          worker.postMessage(POOL_END);
          return exited;
        }),
      );
    },
  };
}

function openMember<Task, Result>(worker: Worker, onDeath: (cause: unknown) => void): Member<Task, Result> {
  const exited = new Promise<void>((done) => worker.once('exit', () => done()));
  worker.on('error', onDeath);
  worker.on('messageerror', onDeath);
  worker.on('exit', (code) => onDeath(new Error(`it ended with code ${code}`)));
  // An idle thread does not keep the process alive.
  worker.unref();
  return { worker, exited, jobs: new Map() };
}

function rejectAll(jobs: Iterable<{ reject(error: DrayError): void }>, error: DrayError): void {
  for (const job of jobs) job.reject(error);
}

function stopped(): DrayError {
  return new DrayError('aborted', 'Stopped on request.');
}

/** One after the other, each in a tick of its own, so that the caller's thread can react to the signal. */
function inTurn<Task, Result>(run: (task: Task) => Result | Promise<Result>): RunTask<Task, Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const work = last.then(async () => {
      await nextTick();
      return run(task);
    });
    last = work.catch(() => undefined);
    return work;
  };
}
