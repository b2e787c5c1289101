/**
 * The pace of a job's ranges: the workflows, a worker and Temporal are real; the steps end when a test says
 * so.
 */
import { tmpdir } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectFleet, type FleetClient } from '../../app/fleet/fleet-client.ts';
import { type FleetSettings, rangeWorkflowId } from '../../app/fleet/fleet-messages.ts';
import { createSharedLimits } from '../../app/fleet/shared-limit.ts';
import type { TemporalOptions } from '../../app/fleet/temporal-options.ts';
import { runWorker } from '../../app/fleet/worker/worker.ts';
import { DrayError } from '../../engine/api/error.ts';
import {
  type FleetCounts,
  type FleetReport,
  type FleetSteps,
  NO_FLEET_COUNTS,
} from '../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { fleetSteps } from '../../engine/jobs/fleet/fleet-steps.ts';
import { startTemporal, type TemporalServer } from '../servers/temporal.ts';

const GIB = 1024 ** 3;
const SETTINGS = { rangesAtOnce: 2, partsAtOnce: 4 };
const SLOTS = 20;

let temporal: TemporalServer;
let fleet: FleetClient;
let connection: Connection;
let client: Client;
const stop = new AbortController();
let worker: Promise<unknown>;

/** A part, or a piece of a large object. */
interface HeldStep {
  readonly job: string;
  readonly range: number;
  readonly end: () => void;
  readonly fail: () => void;
}
const held: HeldStep[] = [];
const heldOf = (job: string, range: number) =>
  held.filter((step) => step.job === job && step.range === range);
/** Ends the oldest ones. */
const endSteps = (job: string, range: number, count: number) => {
  for (const step of heldOf(job, range).slice(0, count)) step.end();
};

/** What a job consists of, by its id. */
const jobs = new Map<
  string,
  { readonly ranges: number; readonly parts: number; readonly largeBytes?: number }
>();

const hold = ({ signal }: JobContext, job: string, range: number) =>
  new Promise<FleetCounts>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    const settle = (settled: () => void) => () => {
      held.splice(held.indexOf(step), 1);
      settled();
    };
    const step: HeldStep = {
      ...{ job, range },
      end: settle(() => resolve(NO_FLEET_COUNTS)),
      fail: settle(() => reject(new DrayError('remoteFailed', 'The piece was not stored.'))),
    };
    held.push(step);
  });

const steps: FleetSteps = {
  ...fleetSteps,
  planRanges: async (_, { id }) => ({ ranges: jobs.get(id)!.ranges, estimatedKeys: 0 }),
  async cutRange(_, { id }, { cutsMax, first }) {
    const { largeBytes, parts } = jobs.get(id)!;
    const count = Math.min(cutsMax, parts - first);
    const part = { files: 1, bytes: 1, largeBytes: largeBytes === undefined ? [] : [largeBytes] };
    return { parts: Array.from({ length: count }, () => part), isLast: first + count === parts };
  },
  runPart: async (context, { id }, { range }) =>
    jobs.get(id)!.largeBytes === undefined ? hold(context, id, range) : NO_FLEET_COUNTS,
  beginLarge: async (_, { id }) => ({ pieces: jobs.get(id)!.largeBytes! / GIB, counts: NO_FLEET_COUNTS }),
  moveLargePieces: (context, { id }, { range }) => hold(context, id, range),
  endLarge: async () => NO_FLEET_COUNTS,
  finish: async () => ({}) as FleetReport,
};

beforeAll(async () => {
  temporal = await startTemporal();
  const options: TemporalOptions = {
    ...{ address: temporal.address, namespace: 'default', queue: 'dray-fleet', tls: false },
  };
  fleet = await connectFleet(options);
  connection = await Connection.connect({ address: temporal.address });
  client = new Client({ connection });
  const ready = Promise.withResolvers<void>();
  const context = {
    directory: tmpdir(),
    connection: {},
    environment: {},
    signal: stop.signal,
    emit: () => {},
  };
  const request = { temporal: options, slots: SLOTS, drainMs: 0, steps, onEvent: () => {}, onLog: () => {} };
  worker = runWorker(context, { ...request, onReady: ready.resolve });
  await Promise.race([ready.promise, worker]);
});
afterAll(async () => {
  stop.abort();
  await worker;
  await connection.close();
  await fleet[Symbol.asyncDispose]();
  await temporal[Symbol.asyncDispose]();
});

async function startJob(id: string, settings: Partial<FleetSettings> = {}): Promise<void> {
  const memo = { id, kind: 'copy', source: 's3://a', destination: 's3://b' } as const;
  const work = { id, destination: 's3://b', digest: '' };
  await fleet.start({ work, memo, limits: {}, settings: { ...SETTINGS, ...settings } });
}

/** As many workers meet a store that asks for fewer requests. Resolves once Temporal has their messages. */
async function slowDown(id: string, { slot, workers }: { slot: number; workers: number }): Promise<void> {
  const { options, workflow, workflowService: service } = client;
  const { map } = await fleet.status(id);
  const ranges = [...map].filter((letter) => letter === 'r').length;
  let answers = 0;
  const signalWorkflowExecution = (request: object) =>
    service.signalWorkflowExecution(request).finally(() => (answers += 1));
  const counted = { options, workflow, workflowService: { signalWorkflowExecution } } as unknown as Client;
  for (let met = 0; met < workers; met += 1) {
    const step = createSharedLimits({ ...systemClock, nowMs: () => slot * 10_000 })({ client: counted }, id);
    step.onRetry('slowDown');
    step.close();
  }
  await expect.poll(() => answers).toBe(workers * ranges);
}

async function runs(id: string, range: number, count: number): Promise<void> {
  await expect.poll(() => heldOf(id, range).length).toBe(count);
}

async function endsWith(id: string): Promise<void> {
  const ended = fleet.result(id);
  const ending = setInterval(() => {
    for (const step of [...held]) step.end();
  }, 10);
  expect(await ended).toMatchObject({ result: 'done' });
  clearInterval(ending);
}

const pacesOf = async (id: string) =>
  (await fleet.status(id)).running.map(({ partsAtOnce, range }) => [range, partsAtOnce]);

async function eventsOf(id: string, range: number) {
  const { events } = await client.workflow.getHandle(rangeWorkflowId(id, range)).fetchHistory();
  return events!;
}

async function signalsOf(id: string, range: number): Promise<number> {
  return (await eventsOf(id, range)).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
}

/** The run that this one continues. */
async function runBefore(id: string, range: number): Promise<string | null | undefined> {
  const [first] = await eventsOf(id, range);
  return first!.workflowExecutionStartedEventAttributes!.continuedExecutionRunId;
}

it('halves the parts of all ranges once for many workers, and a later range begins as slowly', async () => {
  jobs.set('many', { ranges: 3, parts: 6 });
  await startJob('many');
  await runs('many', 0, 4);
  await runs('many', 1, 4);
  await slowDown('many', { slot: 1, workers: 20 });
  expect(await pacesOf('many')).toEqual([
    [0, 2],
    [1, 2],
  ]);
  expect([await signalsOf('many', 0), await signalsOf('many', 1)]).toEqual([1, 1]);

  // Two end without a successor, and the other two are a round.
  endSteps('many', 0, 4);
  await runs('many', 0, 2);
  endSteps('many', 0, 2);
  await runs('many', 2, 3);
  expect(await pacesOf('many')).toEqual([
    [1, 2],
    [2, 3],
  ]);
  await endsWith('many');
});

it('keeps the pace of a range whose history begins anew', async () => {
  jobs.set('long', { ranges: 1, parts: 12 });
  await startJob('long', { eventsMax: 12 });
  await runs('long', 0, 4);
  await slowDown('long', { slot: 1, workers: 1 });
  expect(await runBefore('long', 0)).toBeFalsy();
  endSteps('long', 0, 4);
  await runs('long', 0, 3);
  expect(await runBefore('long', 0)).toBeTruthy();
  expect(await pacesOf('long')).toEqual([[0, 3]]);
  await endsWith('long');
});

it('moves fewer pieces of a large object, and more again after each round', async () => {
  jobs.set('large', { ranges: 1, parts: 1, largeBytes: 12 * GIB });
  await startJob('large');
  await runs('large', 0, 4);
  await slowDown('large', { slot: 1, workers: 2 });
  endSteps('large', 0, 2);
  expect(await pacesOf('large')).toEqual([[0, 2]]);
  endSteps('large', 0, 2);
  await runs('large', 0, 3);
  expect(await pacesOf('large')).toEqual([[0, 3]]);
  await endsWith('large');
});

it('begins no piece after one has failed, and waits for those that run', async () => {
  jobs.set('failing', { ranges: 1, parts: 1, largeBytes: 12 * GIB });
  await startJob('failing', { attemptsMax: 1 });
  await runs('failing', 0, 4);
  heldOf('failing', 0)[0]!.fail();
  const afterFailure = async () => {
    const events = await eventsOf('failing', 0);
    const at = events.findIndex((event) => event.activityTaskFailedEventAttributes);
    return at < 0 ? [] : events.slice(at);
  };
  await expect
    .poll(async () => (await afterFailure()).filter((event) => event.workflowTaskCompletedEventAttributes))
    .not.toEqual([]);
  expect((await afterFailure()).filter((event) => event.workflowExecutionCompletedEventAttributes)).toEqual(
    [],
  );
  expect(heldOf('failing', 0)).toHaveLength(3);
  endSteps('failing', 0, 3);
  const counts = { failed: 1, failedBy: { remoteFailed: 1 } };
  expect(await fleet.result('failing')).toMatchObject({ counts });
});
