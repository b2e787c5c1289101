/** Calls activities, and says what their failures mean for the work. */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  proxyActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { FleetActivities } from '../activity-types.ts';
import { WORKER_STOPPED } from '../failure-types.ts';
import { type FleetSettings, ownQueue } from '../fleet-messages.ts';

/** The longest time of a step. Work that takes longer belongs into smaller parts. */
const STEP_TIMEOUT = '7 days';
/** A part is not at fault when workers die. But a part that kills every worker must not run for ever. */
const DEATHS_MAX = 20;

/** @param worker The only one that can do the steps. Default: any worker of the queue. */
export function callActivities(
  { attemptsMax, silenceMaxMs }: FleetSettings,
  worker?: string,
): FleetActivities {
  return proxyActivities<FleetActivities>({
    ...(worker !== undefined && { taskQueue: ownQueue(workflowInfo().taskQueue, worker) }),
    startToCloseTimeout: STEP_TIMEOUT,
    heartbeatTimeout: silenceMaxMs,
    // The result of a step that ends while it is cancelled still counts.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 2,
      maximumInterval: '1m',
      maximumAttempts: attemptsMax,
    },
  });
}

/** Repeats the step as long as only the end of its worker made it fail. */
export async function untilWorkersLast<T>(step: () => Promise<T>): Promise<T> {
  for (let deaths = 0; ; deaths += 1) {
    try {
      return await step();
    } catch (error) {
      if (!isWorkersEnd(error) || deaths === DEATHS_MAX) throw error;
    }
  }
}

function isWorkersEnd(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  return (
    cause instanceof TimeoutFailure || (cause instanceof ApplicationFailure && cause.type === WORKER_STOPPED)
  );
}

/** The code of the engine's error. */
export function codeOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type) return cause.type;
  return cause instanceof TimeoutFailure ? 'unreachable' : 'internal';
}

/** The failure that ends a workflow: the code, and no text of the engine's. */
export function failureOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof ChildWorkflowFailure || cause instanceof ActivityFailure) {
    if (cause.cause === undefined) break;
    cause = cause.cause;
  }
  return cause instanceof ApplicationFailure
    ? ApplicationFailure.nonRetryable(cause.message, cause.type)
    : cause instanceof TimeoutFailure
      ? ApplicationFailure.nonRetryable('Every worker that ran one of the steps died.', 'unreachable')
      : error;
}
