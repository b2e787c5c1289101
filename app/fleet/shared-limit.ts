/**
 * The limits of a fleet, shared by its workers: each asks every ten seconds for the limits of a job and for
 * the running steps, and takes its steps' share of the limit. Queries and descriptions leave
 * nothing in a history. All steps of a job in this worker share one throttle.
 */
import type { Context } from '@temporalio/activity';
import type { JobContext, Throttle } from '../../engine/api/jobs.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { createThrottle } from '../../engine/remotes/wrappers/with-throttle.ts';
import { type FleetLimits, QUERIES, rangeWorkflowId, type Share, SIGNALS } from './fleet-messages.ts';
import { countStarted } from './worker/running-steps.ts';

const ASK_EVERY_MS = 10_000;
/** The first query does not show all steps that begin together. */
const ASK_AGAIN_MS = 2_000;
/** A step that does not learn its limits in time begins without them. */
const FIRST_ANSWER_MS = 5_000;
/** One step reports throttled requests to its range at most this often. */
const SLOW_DOWN_EVERY_MS = 10_000;

export interface StepShare {
  /** Resolves when the limits are known. */
  readonly known: Promise<void>;
  readonly throttle: Throttle;
  readonly requestThrottle: Throttle;
  readonly onRetry: NonNullable<JobContext['onRetry']>;
  close(): void;
}

interface JobLimit {
  readonly known: Promise<void>;
  readonly throttle: Throttle;
  readonly requestThrottle: Throttle;
  readonly close: () => void;
  /** Steps of the job that this worker runs. */
  steps: number;
}

/** For one worker. */
export function createSharedLimits(): (activity: Context, jobId: string) => StepShare {
  const jobs = new Map<string, JobLimit>();
  return (activity, jobId) => {
    const job = jobs.get(jobId) ?? openJobLimit(activity, jobId, () => jobs.get(jobId)?.steps ?? 0);
    jobs.set(jobId, job);
    job.steps += 1;
    return {
      known: job.known,
      throttle: job.throttle,
      requestThrottle: job.requestThrottle,
      onRetry: slowDownListener(activity),
      close: () => {
        job.steps -= 1;
        if (job.steps > 0) return;
        jobs.delete(jobId);
        job.close();
      },
    };
  };
}

function openJobLimit({ client, info }: Context, jobId: string, ownSteps: () => number): JobLimit {
  let limits: FleetLimits = {};
  let part = 1;
  const workflow = (workflowId: string) => client.workflow.getHandle(workflowId);
  const ask = async () => {
    // The workflow of a range is named after its job's.
    const jobWorkflow = info.workflowExecution!.workflowId.replace(/\/range-\d+$/, '');
    const share = await workflow(jobWorkflow).query<Share>(QUERIES.share);
    limits = share.limits;
    if (Object.keys(limits).length === 0) return;
    const started = await Promise.all(
      share.ranges.map(async (range) =>
        countStarted(await workflow(rangeWorkflowId(jobId, range)).describe()),
      ),
    );
    const all = started.reduce((sum, count) => sum + count, 0);
    part = Math.min(1, ownSteps() / Math.max(1, all));
  };
  // A question that fails leaves the limit as it was.
  const askSafely = () => ask().catch(() => {});
  const answer = askSafely();
  const again = setTimeout(askSafely, ASK_AGAIN_MS);
  const timer = setInterval(askSafely, ASK_EVERY_MS);
  const throttle = (read: (all: FleetLimits) => number | undefined) =>
    createThrottle({
      bytesPerSecond: () => {
        const limit = read(limits);
        return limit === undefined ? undefined : limit * part;
      },
      clock: systemClock,
    });
  return {
    known: Promise.race([answer, systemClock.sleep(FIRST_ANSWER_MS)]),
    throttle: throttle(({ bytesPerSecond }) => bytesPerSecond),
    requestThrottle: throttle(({ requestsPerSecond }) => requestsPerSecond),
    close: () => {
      clearTimeout(again);
      clearInterval(timer);
    },
    steps: 0,
  };
}

/** Signals to the range that its store asks for fewer requests. */
function slowDownListener({ client, info }: Context): StepShare['onRetry'] {
  let sentMs = Number.NEGATIVE_INFINITY;
  const { workflowId } = info.workflowExecution!;
  return (failure) => {
    const nowMs = systemClock.monotonicMs();
    if (failure !== 'slowDown' || nowMs - sentMs < SLOW_DOWN_EVERY_MS || !workflowId.includes('/')) return;
    sentMs = nowMs;
    client.workflow
      .getHandle(workflowId)
      .signal(SIGNALS.slowDown)
      .catch(() => {});
  };
}
