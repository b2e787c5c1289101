/**
 * Distributes tasks to worker threads. They start once the work is worth their start (about 40 ms); until
 * then, and with no threads allowed, tasks run in the caller's thread.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMarkedAsUntransferable, Worker } from 'node:worker_threads';
import { DrayError, fromErrorRecord } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { WorkerAnswer, WorkerRequest } from './write-worker.ts';
import { packTask, unpackResult } from './writer-message.ts';
import { runWriteTask, type TaskResults, type WriteTask } from './writer-task.ts';
import { openWriteThread, type WriteThread, type WriteThreadData } from './writer-thread.ts';

/** Above either bound, the expected work is worth starting threads. */
const INLINE_FILES_MAX = 400;
const INLINE_BYTES_MAX = 16 * 1024 * 1024;
/** One running and one waiting: a thread never idles, and few tasks are bound to a slow one. */
const TASKS_PER_THREAD = 2;

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

interface Job {
  readonly task: WriteTask;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Member {
  readonly worker: Worker;
  readonly exited: Promise<void>;
  readonly jobs: Map<number, Job>;
}

export interface WriteThreadsOptions {
  readonly root: string;
  readonly isWatchful: boolean;
  /** Called with the first task. */
  readonly temporaryPrefix: () => string;
  readonly threads: number;
  readonly signal: AbortSignal;
}

export function openWriteThreads(options: WriteThreadsOptions): WriteThreads {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const members: Member[] = [];
  const queue: Job[] = [];
  const running = new Set<Promise<unknown>>();
  let inline: WriteThread | undefined;
  let lastInline: Promise<unknown> = Promise.resolve();
  let broken: DrayError | undefined;
  let nextId = 0;
  let filesExpected = 0;
  let bytesExpected = 0;

  const onAbort = () => {
    Atomics.store(stop, 0, 1);
    for (const job of queue.splice(0)) job.reject(new DrayError('aborted', 'Stopped on request.'));
  };
  if (options.signal.aborted) onAbort();
  options.signal.addEventListener('abort', onAbort, { once: true });

  /**
   * The thread exits by itself once it has started: terminating one while it loads native code ends the whole
   * process.
   */
  function end({ exited, worker }: Member): Promise<void> {
    worker.ref();
    worker.postMessage('end');
    return exited;
  }

  function start(): void {
    while (members.length < options.threads) {
      const data: WriteThreadData = {
        root: options.root,
        isWatchful: options.isWatchful,
        temporaryPrefix: `${options.temporaryPrefix()}${members.length + 1}.`,
        stop,
      };
      // The bundle has the worker beside its main file. The host's own flags (`--input-type`, say) do not
      // apply to a thread.
      const name = import.meta.url.endsWith('.ts') ? './write-worker.ts' : './write-worker.js';
      const worker = new Worker(new URL(name, import.meta.url), {
        name: 'dray-write',
        workerData: data,
        execArgv: [],
      });
      const exited = new Promise<void>((done) => worker.once('exit', () => done()));
      const member: Member = { worker, exited, jobs: new Map() };
      worker.on('message', (answer: WorkerAnswer) => settle(member, answer));
      worker.on('error', (error) => fail(member, error));
      // An idle thread does not keep the process alive.
      worker.unref();
      members.push(member);
    }
  }

  function settle(member: Member, answer: WorkerAnswer): void {
    const job = member.jobs.get(answer.id)!;
    member.jobs.delete(answer.id);
    if (member.jobs.size === 0) member.worker.unref();
    const next = queue.shift();
    if (next) post(member, next);
    if ('error' in answer) job.reject(fromErrorRecord(answer.error));
    else job.resolve(unpackResult(answer.result));
  }

  /** A thread that dies loses its tasks, and the writer accepts no more: the state of its work is unknown. */
  function fail(member: Member, cause: unknown): void {
    const message = cause instanceof Error ? cause.message : String(cause);
    broken = new DrayError('internal', `A thread that writes files died: ${message}`, { cause });
    for (const job of [...member.jobs.values(), ...queue.splice(0)]) job.reject(broken);
    member.jobs.clear();
  }

  function post(member: Member, job: Job): void {
    nextId += 1;
    if (member.jobs.size === 0) member.worker.ref();
    member.jobs.set(nextId, job);
    const request: WorkerRequest = { id: nextId, task: packTask(job.task) };
    member.worker.postMessage(request, transferable(job.task));
  }

  function leastBusy(): Member | undefined {
    let least: Member | undefined;
    for (const member of members) if (!least || member.jobs.size < least.jobs.size) least = member;
    return least;
  }

  function track<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    const forget = () => void running.delete(work);
    work.then(forget, forget);
    return work;
  }

  /**
   * One after the other, each in a tick of its own, so that the caller's thread can react to the signal and
   * the network.
   */
  function runInline(task: WriteTask): Promise<Result> {
    const work = lastInline.then(async () => {
      await nextTurn();
      checkAborted(options.signal);
      inline ??= await openWriteThread({
        root: options.root,
        isWatchful: options.isWatchful,
        temporaryPrefix: `${options.temporaryPrefix()}0.`,
        stop,
      });
      return runWriteTask(inline, task);
    });
    lastInline = work.catch(() => undefined);
    return work;
  }

  function runIn(member: Member | undefined, task: WriteTask, mayQueue: boolean): Promise<Result> {
    if (options.signal.aborted) return Promise.reject(new DrayError('aborted', 'Stopped on request.'));
    if (broken) return Promise.reject(broken);
    if (!member) return track(runInline(task));
    return track(
      new Promise((resolve, reject) => {
        const job = { task, resolve, reject };
        if (mayQueue && member.jobs.size >= TASKS_PER_THREAD) queue.push(job);
        else post(member, job);
      }),
    );
  }

  return {
    expect(files, bytes) {
      filesExpected += files;
      bytesExpected += bytes;
      if (options.threads > 0 && (filesExpected > INLINE_FILES_MAX || bytesExpected > INLINE_BYTES_MAX))
        start();
    },
    run: (_kind, task) => runIn(leastBusy(), task, true) as never,
    lane() {
      const member = leastBusy();
      return { run: (_kind, task) => runIn(member, task, false) as never };
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
    async close() {
      options.signal.removeEventListener('abort', onAbort);
      await this.idle();
      await Promise.all(members.splice(0).map(end));
    },
  };
}

/** The buffers that can move: those that contain only the task's bytes. */
function transferable(task: WriteTask): ArrayBuffer[] {
  if (!('bytes' in task)) return [];
  const { buffer, byteLength } = task.bytes;
  if (!(buffer instanceof ArrayBuffer) || byteLength === 0 || buffer.byteLength !== byteLength) return [];
  return isMarkedAsUntransferable(buffer) ? [] : [buffer];
}
