/**
 * The activities: each runs one step of the engine on this worker, with this worker's credentials, and
 * reports numbers while it runs. The engine's text about a failure may name keys, so it is printed here, and
 * Temporal learns no more than its code.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { type DrayError, toDrayError } from '../../../engine/api/error.ts';
import type { JobEvent } from '../../../engine/api/events.ts';
import type { FleetSteps, FleetWork } from '../../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../../engine/api/jobs/jobs.ts';
import type { FleetActivities } from '../activity-types.ts';
import { FATAL_CODES, WORKER_STOPPED } from '../failure-types.ts';
import type { Pulse } from '../fleet-messages.ts';
import { createSharedLimits } from '../shared-limit.ts';
import type { StepMetrics } from './step-metrics.ts';
import { createWorkerTotals } from './worker-totals.ts';

const PULSE_MS = 1000;
const MAX_RETRY_MS = 60_000;

export interface ActivityOptions {
  readonly steps: FleetSteps;
  /** The context of a job, without the parts that differ for each step. */
  readonly context: Omit<JobContext, 'emit' | 'signal'>;
  /** Called for each event of a step, and with the error that ended one. */
  readonly onEvent: (event: StepEvent) => void;
  readonly metrics: StepMetrics;
}

export type StepEvent =
  | { readonly type: 'started' | 'ended'; readonly step: string; readonly place: StepPlace }
  | { readonly type: 'failed'; readonly step: string; readonly place: StepPlace; readonly error: DrayError }
  | { readonly type: 'job'; readonly event: JobEvent };

export interface StepPlace {
  readonly job: string;
  readonly range?: number;
  readonly part?: number;
}

type Step<Arguments extends readonly unknown[], Result> = (
  context: JobContext,
  work: FleetWork,
  ...rest: Arguments
) => Promise<Result>;

export function createActivities(options: ActivityOptions): FleetActivities {
  const shared = { ...options, join: createSharedLimits(), totalOf: createWorkerTotals() };
  const activity =
    <Arguments extends readonly unknown[], Result>(name: string, step: Step<Arguments, Result>) =>
    (work: FleetWork, ...rest: Arguments): Promise<Result> =>
      runStep(shared, { name, work, request: rest[0] }, (context) => step(context, work, ...rest));
  const { steps } = options;
  return {
    planRanges: activity('planRanges', steps.planRanges),
    cutRange: activity('cutRange', steps.cutRange),
    runPart: activity('runPart', steps.runPart),
    retryFailed: activity('retryFailed', steps.retryFailed),
    beginLarge: activity('beginLarge', steps.beginLarge),
    moveLargePieces: activity('moveLargePieces', steps.moveLargePieces),
    endLarge: activity('endLarge', steps.endLarge),
    approveDeletes: activity('approveDeletes', steps.approveDeletes),
    finish: activity('finish', async (context, work, request: Parameters<FleetSteps['finish']>[2]) => {
      const { published } = await steps.finish(context, work, request);
      return published ?? {};
    }),
  };
}

interface RunningStep {
  readonly name: string;
  readonly work: FleetWork;
  readonly request: unknown;
}

/** Shared by all steps of the worker. */
interface SharedParts {
  readonly join: ReturnType<typeof createSharedLimits>;
  readonly totalOf: ReturnType<typeof createWorkerTotals>;
}

async function runStep<Result>(
  { context, join, metrics, onEvent, totalOf }: ActivityOptions & SharedParts,
  { name, request, work }: RunningStep,
  step: (context: JobContext) => Promise<Result>,
): Promise<Result> {
  const activity = Context.current();
  const { cancellationSignal: signal } = activity;
  const place = placeOf(work, request);
  let pulse: Pulse = { ...place.numbers, files: 0, bytes: 0 };
  const share = join(activity, work.id);
  const total = totalOf(work.id);
  const ownTotal = total.open();
  const sendPulse = () => activity.heartbeat({ ...pulse, total: total.read() } satisfies Pulse);
  const beat = setInterval(sendPulse, PULSE_MS);
  const fields = { step: name, place: place.named };
  const meter = metrics.open(name);
  onEvent({ type: 'started', ...fields });
  try {
    sendPulse();
    await share.known;
    const result = await step({
      ...context,
      signal,
      throttle: share.throttle,
      requestThrottle: share.requestThrottle,
      onRetry: share.onRetry,
      emit: (event) => {
        if (event.type === 'progress') {
          pulse = { ...pulse, files: event.filesDone, bytes: event.bytesDone };
          meter.moved(event.bytesDone);
          ownTotal.moved({ bytes: event.bytesDone, files: event.filesDone });
        }
        onEvent({ type: 'job', event });
      },
    });
    onEvent({ type: 'ended', ...fields });
    meter.ended(result);
    ownTotal.ended(result);
    return result;
  } catch (error) {
    if (signal.aborted) {
      meter.givenBack();
      throw stoppedFailure(signal);
    }
    meter.failed();
    const known = toDrayError(error);
    onEvent({ type: 'failed', ...fields, error: known });
    throw toFailure(name, known, activity.info.attempt);
  } finally {
    clearInterval(beat);
    share.close();
  }
}

function placeOf(work: FleetWork, request: unknown) {
  const { number: part, range } = (request ?? {}) as { readonly range?: number; readonly number?: number };
  const numbers = { ...(range !== undefined && { range }), ...(part !== undefined && { part }) };
  return { numbers, named: { job: work.id, ...numbers } };
}

/** A worker that is stopping gives its step back. That does not count as a failure of the step. */
function stoppedFailure({ reason }: AbortSignal): Error {
  if (reason instanceof CancelledFailure && reason.message !== 'WORKER_SHUTDOWN') return reason;
  return ApplicationFailure.create({
    type: WORKER_STOPPED,
    message: 'The worker was stopped.',
    nextRetryDelay: 1,
  });
}

function toFailure(name: string, { code, retry }: DrayError, attempt: number): ApplicationFailure {
  const message = `The step ${name} failed with "${code}". The worker that ran it has printed why.`;
  const nextRetryDelay = Math.min(MAX_RETRY_MS, (retry === 'backoff' ? 5_000 : 1_000) * 2 ** (attempt - 1));
  return ApplicationFailure.create({
    type: code,
    message,
    nextRetryDelay,
    nonRetryable: FATAL_CODES.has(code),
  });
}
