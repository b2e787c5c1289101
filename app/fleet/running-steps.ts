/**
 * The steps that run now, with their last heartbeat, as Temporal describes a workflow. No history grows by
 * it.
 */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Pulse } from './fleet-messages.ts';
import { decode } from './payloads.ts';

export interface RunningStep {
  /** The activity's name. */
  readonly type: string;
  readonly worker: string;
  readonly pulse: Pulse;
}

const NO_PULSE: Pulse = { files: 0, bytes: 0 };

export async function readPulses(
  client: Client,
  { raw }: WorkflowExecutionDescription,
): Promise<RunningStep[]> {
  const running = (raw.pendingActivities ?? []).filter(({ lastStartedTime }) => lastStartedTime);
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
