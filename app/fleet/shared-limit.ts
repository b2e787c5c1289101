/**
 * The part of a fleet's bandwidth that one step may use, and what its store says about the pace. Each step
 * asks its job and its range how many share the limit. Queries leave nothing in a history.
 */
import type { Context } from '@temporalio/activity';
import type { CallListener, Throttle } from '../../engine/api/jobs.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { createThrottle } from '../../engine/remotes/wrappers/with-throttle.ts';
import { QUERIES, type Share, SIGNALS } from './fleet-messages.ts';

const ASK_EVERY_MS = 10_000;
/** A range hears of throttled requests at most so often from one step. */
const SLOW_DOWN_EVERY_MS = 10_000;

export interface StepShare {
  readonly throttle: Throttle;
  readonly onCall: CallListener;
  close(): void;
}

export function openShare(activity: Context): StepShare {
  let bytesPerSecond: number | undefined;
  let toldMs = Number.NEGATIVE_INFINITY;
  const { workflowExecution } = activity.info;
  const workflow = (workflowId: string) => activity.client.workflow.getHandle(workflowId);
  const ownId = workflowExecution?.workflowId ?? '';
  const slash = ownId.indexOf('/');
  const jobId = slash < 0 ? ownId : ownId.slice(0, slash);
  const ask = async () => {
    const job = await workflow(jobId).query<Share>(QUERIES.share);
    const limit = job.limits.bytesPerSecond;
    const range =
      limit === undefined || jobId === ownId ? undefined : await workflow(ownId).query<Share>(QUERIES.share);
    bytesPerSecond = limit === undefined ? undefined : limit / job.sharers / (range?.sharers ?? 1);
  };
  // A query that fails leaves the limit as it was.
  const askSafely = () => void ask().catch(() => {});
  askSafely();
  const timer = setInterval(askSafely, ASK_EVERY_MS);
  const slowDown = () => {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - toldMs < SLOW_DOWN_EVERY_MS || slash < 0) return;
    toldMs = nowMs;
    void workflow(ownId)
      .signal(SIGNALS.slowDown)
      .catch(() => {});
  };
  return {
    throttle: createThrottle({ bytesPerSecond: () => bytesPerSecond, clock: systemClock }),
    onCall: () => (failure) => {
      if (failure === 'slowDown') slowDown();
    },
    close: () => clearInterval(timer),
  };
}
