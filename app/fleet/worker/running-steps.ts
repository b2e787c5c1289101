/**
 * The running steps with their last heartbeat, from Temporal's description of a workflow. Reading it adds
 * nothing to the workflow's history.
 */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { systemClock } from '../../../engine/base/clock.ts';
import type { Pulse } from '../fleet-messages.ts';
import { decode } from '../payloads.ts';

export interface RunningStep {
  /** The activity's name. */
  readonly type: string;
  readonly worker: string;
  readonly pulse: Pulse;
}

/** Temporal's code for an activity that a worker has begun. */
const STARTED = 2;

export function countStarted({ raw }: WorkflowExecutionDescription): number {
  return startedOf(raw).length;
}

function startedOf({ pendingActivities }: WorkflowExecutionDescription['raw']) {
  return (pendingActivities ?? []).filter(({ state }) => state === STARTED);
}

/** Longer than a running worker needs to begin a step. */
const AWAITED_MS = 5_000;

/** Steps wait, and no worker has begun one of them. */
export function waitsLong({ raw }: WorkflowExecutionDescription): boolean {
  const pending = raw.pendingActivities ?? [];
  if (pending.length === 0 || startedOf(raw).length > 0) return false;
  return pending.some(({ nextAttemptScheduleTime, scheduledTime }) => {
    // Later than now while a failed step waits for its next attempt.
    const dueMs = Number((nextAttemptScheduleTime ?? scheduledTime)?.seconds ?? 0) * 1000;
    return dueMs > 0 && systemClock.nowMs() - dueMs > AWAITED_MS;
  });
}

const NO_PULSE: Pulse = { files: 0, bytes: 0 };

export async function readPulses(
  client: Client,
  { raw }: WorkflowExecutionDescription,
): Promise<RunningStep[]> {
  const running = startedOf(raw);
  return Promise.all(
    running.map(async ({ activityType, heartbeatDetails, lastWorkerIdentity }) => {
      const details = await decode(client.options.loadedDataConverter, heartbeatDetails?.payloads ?? []);
      return {
        type: activityType?.name ?? '',
        worker: lastWorkerIdentity ?? '',
        pulse: (details[0] as Pulse | undefined) ?? NO_PULSE,
      };
    }),
  );
}
