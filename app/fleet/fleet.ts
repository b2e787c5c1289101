/** The interface of a fleet for the commands. Loads Temporal's packages at the first call. */

import { toErrorRecord } from '../../engine/api/error.ts';
import type { FleetRequest } from '../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { fleetSteps } from '../../engine/jobs/fleet/fleet-steps.ts';
import type { FleetClient } from './fleet-client.ts';
import type { FleetLimits, FleetSettings } from './fleet-messages.ts';
import { type FleetEndSummary, followJob } from './follow-job.ts';
import { withPackages } from './packages.ts';
import type { TemporalOptions } from './temporal-options.ts';
import type { StepEvent } from './worker/activities.ts';
import type { WorkerRequest, WorkerSummary } from './worker/worker.ts';

export interface StartAndFollowRequest {
  readonly id: string;
  readonly request: FleetRequest;
  readonly temporal: TemporalOptions;
  readonly limits: FleetLimits;
  readonly settings: Partial<FleetSettings>;
  readonly isDetached: boolean;
  readonly onStarted: () => void;
}

export async function startAndFollow(
  context: JobContext,
  { id, isDetached, limits, onStarted, request, settings, temporal }: StartAndFollowRequest,
): Promise<FleetEndSummary> {
  await using client = await connect(temporal);
  const work = await fleetSteps.begin(context, id, request);
  const { kind, workers } = request;
  const memo = {
    id,
    kind,
    source: workers ? `workers ${workers.join(',')}` : withoutSecrets(request.source.place),
    destination: withoutSecrets(work.destination),
  };
  await client.start({ work, memo, limits, settings, ...(workers && { workers }) });
  onStarted();
  return await followJob(context, { client, memo, isDetached });
}

/** Calls Temporal once. */
export async function withClient<T>(
  temporal: TemporalOptions,
  action: (client: FleetClient) => Promise<T>,
): Promise<T> {
  await using client = await connect(temporal);
  return await action(client);
}

async function connect(temporal: TemporalOptions): Promise<FleetClient> {
  const { connectFleet } = await withPackages(() => import('./fleet-client.ts'));
  return connectFleet(temporal);
}

export async function work(
  context: JobContext,
  request: Pick<WorkerRequest, 'drainMs' | 'metricsAddress' | 'offers' | 'slots' | 'temporal' | 'tracesUrl'>,
): Promise<WorkerSummary> {
  const { runWorker } = await withPackages(() => import('./worker/worker.ts'));
  const { offers, temporal } = request;
  const { address, queue } = temporal;
  return runWorker(context, {
    ...request,
    steps: fleetSteps,
    onReady: () => context.emit({ type: 'fleetWorker', address, queue, ...offers }),
    onEvent: (event) => report(context, event),
    onLog: (message) => context.emit({ type: 'warning', warning: 'temporal', message }),
  });
}

/** The progress of one step says little; `dray fleet status` shows the sums. */
function report({ emit }: JobContext, event: StepEvent): void {
  if (event.type === 'job') {
    if (event.event.type === 'fileFailed' || event.event.type === 'warning') emit(event.event);
    return;
  }
  const { job, part, range } = event.place;
  const place = [
    ...(range === undefined ? [] : [`range ${range}`]),
    ...(part === undefined ? [] : [`part ${part}`]),
  ];
  const fields = { type: 'fleetStep', step: event.step, job, part: place.join(', ') } as const;
  if (event.type !== 'failed') {
    emit({ ...fields, state: event.type });
    return;
  }
  emit({ ...fields, state: 'failed', error: toErrorRecord(event.error) });
  const where = [job, ...place].join(', ');
  emit({
    type: 'warning',
    warning: 'fleetStep',
    message: `${event.step} of ${where} failed and is repeated: ${event.error.message}`,
  });
}

/** A place without a user, a password and connection settings. */
function withoutSecrets(place: string): string {
  return place.replace(/\?.*$/s, '').replace(/\/\/[^/@]*@/, '//');
}
