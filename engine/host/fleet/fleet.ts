/**
 * The requests for fleets. Dray asks Temporal only while a window watches: every two seconds for the list of
 * jobs, or for one job.
 */
import { DrayError, toErrorRecord } from '../../api/error.ts';
import { FLEET_FAILURES_MAX } from '../../api/host/fleet.ts';
import type { FleetConnection, FleetLink } from '../../api/host/fleet-link.ts';
import { checkAborted, untilAborted } from '../../base/abort.ts';
import { readFailedFiles } from '../../jobs/fleet/failed-files.ts';
import type { HostState } from '../host-state.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { findServer, keepServer, listServers, removeServer } from './fleet-servers.ts';
import { createJobWatch } from './job-watch.ts';

const LOOK_EVERY_MS = 2_000;
const JOBS_MAX = 200;

export const FLEET: HandlersOf<'fleet'> = {
  'fleet.servers': async (_input, { host }) => ({ servers: listServers(host) }),
  'fleet.keepServer': async ({ from, server }, { host }) => {
    keepServer(host, server, from);
    return {};
  },
  'fleet.removeServer': async ({ name }, { host }) => {
    removeServer(host, name);
    return {};
  },
  'fleet.watch': async ({ job, server: name }, call) => {
    const { emit, host } = call;
    const server = findServer(host, name);
    if (job === undefined)
      return await watch(call, name, async (connection) => {
        emit({ type: 'fleet', view: { jobs: await connection.list(JOBS_MAX) } });
      });
    const jobWatch = createJobWatch({ server, id: job, clock: host.clock });
    return await watch(call, name, (connection) =>
      jobWatch.look(connection, (view) => emit({ type: 'fleet', view: { job: view } })),
    );
  },
  'fleet.change': async ({ action, job, server }, { host }) => {
    await using connection = await connect(host, server);
    try {
      if (action === 'retryFailed') return { retried: await connection.retryFailed(job) };
      await connection[action](job);
      return {};
    } finally {
      changeOf(host).abort();
    }
  },
  'fleet.failures': async ({ job, server }, call) => {
    const { host } = call;
    await using connection = await connect(host, server);
    const work = await connection.work(job);
    return readFailedFiles(jobContextOf(call, host.folder), work, FLEET_FAILURES_MAX);
  },
};

/** Polls until the request is stopped. It outlasts a server that does not answer; other errors end it. */
async function watch(
  { emit, host, signal }: HostCall,
  server: string,
  look: (connection: FleetConnection) => Promise<void>,
): Promise<never> {
  const stopped = untilAborted(signal);
  let connection: FleetConnection | undefined;
  try {
    for (;;) {
      try {
        connection ??= await connect(host, server);
        // A query waits for a worker for some seconds; a window that has gone does not.
        await Promise.race([look(connection), stopped]);
        checkAborted(signal);
      } catch (error) {
        checkAborted(signal);
        if (!isPassing(error)) throw error;
        emit({ type: 'fleet', view: { error: toErrorRecord(error) } });
        await connection?.[Symbol.asyncDispose]();
        connection = undefined;
      }
      await pause(host, signal);
    }
  } finally {
    await connection?.[Symbol.asyncDispose]();
  }
}

/** The next change that a window of the host makes. */
const changes = new WeakMap<HostState, AbortController>();

function changeOf(host: HostState): AbortController {
  const known = changes.get(host);
  if (known && !known.signal.aborted) return known;
  const next = new AbortController();
  changes.set(host, next);
  return next;
}

/** Ends early when a window of the host changes a job, so that the user sees the result. */
async function pause(host: HostState, signal: AbortSignal): Promise<void> {
  const early = AbortSignal.any([signal, changeOf(host).signal]);
  await host.clock.sleep(LOOK_EVERY_MS, early).catch(() => checkAborted(signal));
}

function isPassing(error: unknown): boolean {
  return error instanceof DrayError && ['remoteFailed', 'slowDown', 'unreachable'].includes(error.code);
}

async function connect(host: HostState, server: string): Promise<FleetConnection> {
  const found = findServer(host, server);
  return (await linkOf(host)).connect(found);
}

function linkOf({ fleetLink }: HostState): Promise<FleetLink> {
  if (fleetLink) return fleetLink();
  throw new DrayError('unsupported', 'This window was opened by a program that cannot talk to Temporal.');
}
