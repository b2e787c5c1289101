import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { systemClock } from '../../engine/base/clock.ts';
import type { Share } from './fleet-messages.ts';
import { createSharedLimits } from './shared-limit.ts';

const JOB = 'nightly';
const SLOT_MS = 10_000;

interface Signal {
  readonly workflowExecution: { readonly workflowId: string };
  readonly requestId: string;
  readonly signalName: string;
}

/** What a server of Temporal sees of the workers of a job. */
function fakeTemporal(share: { ranges: number[] }) {
  const queries: string[] = [];
  const signals: string[] = [];
  const client = {
    options: { identity: 'worker', namespace: 'default' },
    workflow: {
      getHandle: (workflowId: string) => ({
        query: async (name: string): Promise<Share> => {
          queries.push(`${workflowId} ${name}`);
          return { ...share, limits: {} };
        },
      }),
    },
    workflowService: {
      signalWorkflowExecution: async ({ requestId, signalName, workflowExecution }: Signal) => {
        signals.push(`${workflowExecution.workflowId} ${signalName} ${requestId}`);
        if (workflowExecution.workflowId.endsWith('range-0')) throw new Error('workflow not found');
      },
    },
  };
  return { client: client as unknown as Client, queries, signals };
}

function openWorker(client: Client) {
  const time = { nowMs: 5 * SLOT_MS };
  const join = createSharedLimits({ ...systemClock, nowMs: () => time.nowMs });
  return { time, step: () => join({ client }, JOB) };
}

it('slows all running ranges down when a store asks one step for fewer requests', async () => {
  const { client, signals } = fakeTemporal({ ranges: [0, 1, 7] });
  const step = openWorker(client).step();
  step.onRetry('unreachable');
  step.onRetry('slowDown');
  const told = (range: number) => `dray-fleet-${JOB}/range-${range} slowDown slow-5`;
  await expect.poll(() => signals).toEqual([told(0), told(1), told(7)]);
  step.close();
});

it('tells a range once in each slot of time, by one id for the steps of all workers', async () => {
  const { client, queries, signals } = fakeTemporal({ ranges: [3] });
  const workers = [openWorker(client), openWorker(client)];
  const steps = workers.flatMap((worker) => [worker.step(), worker.step()]);
  const asked = queries.length;
  for (const step of steps) step.onRetry('slowDown');
  await expect.poll(() => signals).toHaveLength(workers.length);
  expect(new Set(signals)).toEqual(new Set([`dray-fleet-${JOB}/range-3 slowDown slow-5`]));
  expect(queries).toHaveLength(asked + workers.length);
  workers[0]!.time.nowMs += SLOT_MS;
  for (const step of steps) step.onRetry('slowDown');
  await expect.poll(() => signals.slice(2)).toEqual([`dray-fleet-${JOB}/range-3 slowDown slow-6`]);
  for (const step of steps) step.close();
});

it('tells the ranges that run at that moment', async () => {
  const share = { ranges: [1] };
  const { client, signals } = fakeTemporal(share);
  const step = openWorker(client).step();
  await step.known;
  share.ranges = [2];
  step.onRetry('slowDown');
  await expect.poll(() => signals).toEqual([`dray-fleet-${JOB}/range-2 slowDown slow-5`]);
  step.close();
});
