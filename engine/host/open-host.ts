/**
 * Starts the engine in a worker thread and hands out ports to it. When the thread crashes, all ports close, whoever listens is told, and
 * a new thread is started; ports that are asked for from then on lead to it. One that crashes again and again is given up.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { DrayError, toDrayError } from '../api/error.ts';
import { fromMessagePort, type HostPort } from '../api/host-port.ts';
import type { ConnectionFlags, JobContext } from '../api/jobs.ts';

const CRASHES_MAX = 5;
const CRASHES_WITHIN_MS = 60_000;
/** Transfers stop at their next step; a thread that does not end by then is ended. */
const CLOSE_PATIENCE_MS = 5_000;

export interface WorkerFacts {
  readonly environment: JobContext['environment'];
  readonly connection: ConnectionFlags;
  /** When the thread before this one was last known to run. */
  readonly crashedMs?: number;
}

export type ToWorker =
  | { readonly do: 'serve'; readonly port: MessagePort }
  | { readonly do: 'setEnvironment'; readonly environment: JobContext['environment'] }
  | { readonly do: 'close' };

export interface OpenHostOptions {
  readonly environment: JobContext['environment'];
  /** Flags of the command that opens it, for all its jobs. */
  readonly connection?: ConnectionFlags;
  /** Told of each crash; `isGivenUp`: no new thread was started. */
  readonly onCrash?: (error: DrayError, isGivenUp: boolean) => void;
  /** For tests: another thread's code. */
  readonly workerUrl?: URL;
}

export interface OpenHost {
  /** A port of one's own to the engine. @throws `internal` when it was given up. */
  openPort(): HostPort;
  /** The same as a port to hand on to another thread. */
  openMessagePort(): MessagePort;
  /** For jobs that begin from now on, in threads that are started anew too. Resolves when the thread has it. */
  setEnvironment(environment: JobContext['environment']): Promise<void>;
  /** Stops what runs; transfers go on when a host is opened again. */
  close(): Promise<void>;
}

const WORKER_NAME = import.meta.url.endsWith('.ts') ? './host-worker.ts' : './host-worker.js';

export function openHost({
  connection = {},
  environment: given,
  onCrash,
  workerUrl,
}: OpenHostOptions): OpenHost {
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
      ...(crashedMs === undefined ? {} : { crashedMs }),
    };
    const started = new Worker(url, { name: 'dray-host', workerData });
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
    const next = isGivenUp ? 'It is not started again.' : 'It was started again.';
    onCrash?.(
      new DrayError('internal', `The engine stopped: ${message} ${next}`, { cause: failure }),
      isGivenUp,
    );
  }

  function openMessagePort(): MessagePort {
    if (!worker) throw new DrayError('internal', 'The engine stopped too often and is not started again.');
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
      const told = worker;
      if (!told) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = () => resolve();
      told.once('message', done);
      // One that crashes meanwhile: the next thread starts with it.
      told.once('exit', done);
      told.postMessage({ do: 'setEnvironment', environment } satisfies ToWorker);
      await promise;
      told.off('message', done);
      told.off('exit', done);
    },
    async close() {
      isClosing = true;
      const ending = worker;
      worker = undefined;
      if (!ending) return;
      const ended = new Promise((resolve) => ending.once('exit', resolve));
      ending.postMessage({ do: 'close' } satisfies ToWorker);
      const timer = setTimeout(() => void ending.terminate(), CLOSE_PATIENCE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
