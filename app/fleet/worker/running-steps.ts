/**
 * The running steps with their last heartbeat, from Temporal's description of a workflow. That adds nothing
 * to a history.
 */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
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
