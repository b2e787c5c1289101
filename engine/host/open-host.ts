/**
 * Starts the engine in a worker thread and hands out ports to it. When the thread crashes, all ports close,
 * listeners get an event, and a new thread starts; later ports lead to it. After repeated crashes no new
 * thread starts.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { DrayError, toDrayError } from '../api/error.ts';
import type { JobEvent } from '../api/events.ts';
import type { ConnectionFlags, JobContext } from '../api/jobs/jobs.ts';
import { fromMessagePort, type HostPort } from '../api/window/host-port.ts';
import type { RunDray } from '../jobs/saved/dray-process.ts';
import { createDrayRuns, type DrayAnswer, type DrayAsked, type DrayRuns } from './saved/dray-relay.ts';

const CRASHES_MAX = 5;
const CRASHES_WITHIN_MS = 60_000;
/** Transfers stop at their next step. A thread that does not end by then is terminated. */
const CLOSE_PATIENCE_MS = 5_000;

export interface WorkerFacts {
  readonly environment: JobContext['environment'];
  readonly connection: ConnectionFlags;
  /** The time of the previous thread's crash. */
  readonly crashedMs?: number;
  /** True if saved jobs can run. */
  readonly hasDray: boolean;
  /** True if jobs that run at login are due. */
  readonly isLogin: boolean;
  readonly fleetLinkUrl?: string;
}

export type ToWorker =
  | { readonly do: 'serve'; readonly port: MessagePort }
  | { readonly do: 'setEnvironment'; readonly environment: JobContext['environment'] }
  | { readonly do: 'readEnvironment' }
  | { readonly do: 'close' }
  | DrayAnswer;

export type FromWorker =
  | { readonly did: 'setEnvironment' }
  | { readonly did: 'readEnvironment'; readonly environment: JobContext['environment'] }
  /** An event of a scheduled run. */
  | { readonly did: 'jobEvent'; readonly event: JobEvent }
  | DrayAsked;

export interface OpenHostOptions {
  readonly environment: JobContext['environment'];
  /** Flags of the command that opens it, for all its jobs. */
  readonly connection?: ConnectionFlags;
  /** Called at each crash. `isGivenUp`: no new thread starts. */
  readonly onCrash?: (error: DrayError, isGivenUp: boolean) => void;
  /** Runs `dray` for saved jobs, which start when they are due. Absent: no saved job runs. */
  readonly runDray?: RunDray;
  /** True if jobs that run at login are due. */
  readonly isLogin?: boolean;
  /** Called with the events of scheduled runs. */
  readonly onJobEvent?: (event: JobEvent) => void;
  /**
   * The module that talks to Temporal; it exports a `FleetLink` as `fleetLink`. The thread loads it when a
   * window first asks about a fleet. A URL, because no function reaches a thread. Absent: no fleets are
   * shown.
   */
  readonly fleetLinkUrl?: URL;
  /** For tests: another thread's code. */
  readonly workerUrl?: URL;
}

export interface OpenHost {
  /** A new port to the engine. @throws `internal` after it was given up. */
  openPort(): HostPort;
  /** The same as a port that can be passed to another thread. */
  openMessagePort(): MessagePort;
  /** Applies to later jobs, also in later threads. Resolves when the thread has received it. */
  setEnvironment(environment: JobContext['environment']): Promise<void>;
  /** The environment of new jobs, with the keys that were typed into a window. */
  readEnvironment(): Promise<JobContext['environment']>;
  /** Stops running jobs. Transfers resume when a host opens again. */
  close(): Promise<void>;
}

const WORKER_NAME = import.meta.url.endsWith('.ts') ? './host-worker.ts' : './host-worker.js';

export function openHost({
  connection = {},
  environment: given,
  fleetLinkUrl,
  isLogin = false,
  onCrash,
  onJobEvent,
  runDray,
  workerUrl,
}: OpenHostOptions): OpenHost {
  const runs = runDray && createDrayRuns(runDray);
  let environment = given;
  const url = workerUrl ?? new URL(WORKER_NAME, import.meta.url);
  let crashes: number[] = [];
  let ports = new Set<MessagePort>();
  let isClosing = false;
  let worker: Worker | undefined = start();

  function start(crashedMs?: number): Worker {
    const workerData: WorkerFacts = {
      environment,
      connection,
      hasDray: runDray !== undefined,
      isLogin: isLogin && crashedMs === undefined,
      ...(crashedMs === undefined ? {} : { crashedMs }),
      ...(fleetLinkUrl ? { fleetLinkUrl: fleetLinkUrl.href } : {}),
    };
    const started = new Worker(url, { name: 'dray-host', workerData });
    hearJobs(started, runs, onJobEvent);
    let failure: unknown;
    started.on('error', (error) => {
      failure = error;
    });
    started.once('exit', (code) => {
      if (!isClosing) crashed(failure ?? new Error(`its thread ended with ${code}`));
    });
    return started;
  }

  function crashed(failure: unknown): void {
    const nowMs = Date.now();
    crashes = [...crashes.filter((atMs) => atMs > nowMs - CRASHES_WITHIN_MS), nowMs];
    const isGivenUp = crashes.length >= CRASHES_MAX;
    worker = isGivenUp ? undefined : start(nowMs);
    const closed = ports;
    ports = new Set();
    for (const port of closed) port.close();
    const { message } = toDrayError(failure);
    const next = isGivenUp ? 'It will not restart.' : 'It has restarted.';
    onCrash?.(
      new DrayError('internal', `The engine stopped: ${message} ${next}`, { cause: failure }),
      isGivenUp,
    );
  }

  function openMessagePort(): MessagePort {
    if (!worker) throw new DrayError('internal', 'The engine stopped too often and will not restart.');
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ do: 'serve', port: port2 } satisfies ToWorker, [port2]);
    ports.add(port1);
    port1.once('close', () => ports.delete(port1));
    return port1;
  }

  return {
    openMessagePort,
    openPort: () => fromMessagePort(openMessagePort()),
    async setEnvironment(next) {
      environment = next;
      // If the thread crashes meanwhile, the next one starts with the new environment.
      await askThread(worker, { do: 'setEnvironment', environment });
    },
    async readEnvironment() {
      const answer = await askThread(worker, { do: 'readEnvironment' });
      return answer?.did === 'readEnvironment' ? answer.environment : environment;
    },
    async close() {
      isClosing = true;
      const ending = worker;
      worker = undefined;
      if (!ending) return;
      const ended = new Promise((resolve) => ending.once('exit', resolve));
      ending.postMessage({ do: 'close' } satisfies ToWorker);
      // Runs of jobs have their own time limit. The thread waits for them, then releases the schedule's lock.
      await runs?.stop();
      const timer = setTimeout(() => void ending.terminate(), CLOSE_PATIENCE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

function hearJobs(
  thread: Worker,
  runs: DrayRuns | undefined,
  onJobEvent: OpenHostOptions['onJobEvent'],
): void {
  const hearDray = runs?.serve((answer) => thread.postMessage(answer satisfies ToWorker));
  thread.on('message', (message: FromWorker) => {
    if (message.did === 'jobEvent') onJobEvent?.(message.event);
    else if (message.did === 'askDray' || message.did === 'stopDray') hearDray?.(message);
  });
}

/** Undefined if the thread ended before it answered, or there is none. */
async function askThread(
  asked: Worker | undefined,
  message: Extract<ToWorker, { do: 'setEnvironment' | 'readEnvironment' }>,
): Promise<FromWorker | undefined> {
  if (!asked) return undefined;
  const { promise, resolve } = Promise.withResolvers<FromWorker | undefined>();
  const hear = (answer: FromWorker) => {
    if (answer.did === message.do) resolve(answer);
  };
  const end = () => resolve(undefined);
  asked.on('message', hear);
  asked.once('exit', end);
  asked.postMessage(message satisfies ToWorker);
  const answer = await promise;
  asked.off('message', hear);
  asked.off('exit', end);
  return answer;
}
