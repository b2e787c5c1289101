/**
 * The limits of a fleet, shared by its workers: each asks every ten seconds for the limits of a job and for
 * the running steps, and takes its steps' share of the limit. Queries and descriptions leave nothing in a
 * history. All steps of a job in this worker share one throttle. When a store asks one of them for fewer
 * requests, all running ranges run fewer steps.
 */
import type { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { JobContext, Throttle } from '../../engine/api/jobs/jobs.ts';
import { type Clock, systemClock } from '../../engine/base/clock.ts';
import { createThrottle } from '../../engine/remotes/wrappers/with-throttle.ts';
import {
  type FleetLimits,
  jobWorkflowId,
  QUERIES,
  rangeWorkflowId,
  type Share,
  SIGNALS,
} from './fleet-messages.ts';
import { countStarted } from './worker/running-steps.ts';

const ASK_EVERY_MS = 10_000;
/** The first query does not show all steps that begin together. */
const ASK_AGAIN_MS = 2_000;
/** A step that does not learn its limits in time begins without them. */
const FIRST_ANSWER_MS = 5_000;
/** All workers together slow a range down at most this often. */
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
  readonly onRetry: StepShare['onRetry'];
  readonly close: () => void;
  /** Steps of the job that this worker runs. */
  steps: number;
}

/** For one worker. */
export function createSharedLimits(
  clock: Clock = systemClock,
): (activity: Pick<Context, 'client'>, jobId: string) => StepShare {
  const jobs = new Map<string, JobLimit>();
  return ({ client }, jobId) => {
    const ownSteps = () => jobs.get(jobId)?.steps ?? 0;
    const job = jobs.get(jobId) ?? openJobLimit({ client, clock, jobId, ownSteps });
    jobs.set(jobId, job);
    job.steps += 1;
    return {
      known: job.known,
      throttle: job.throttle,
      requestThrottle: job.requestThrottle,
      onRetry: job.onRetry,
      close: () => {
        job.steps -= 1;
        if (job.steps > 0) return;
        jobs.delete(jobId);
        job.close();
      },
    };
  };
}

interface LimitParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly jobId: string;
  readonly ownSteps: () => number;
}

function openJobLimit({ client, clock, jobId, ownSteps }: LimitParts): JobLimit {
  let limits: FleetLimits = {};
  let part = 1;
  const ask = async () => {
    const share = await askShare(client, jobId);
    limits = share.limits;
    if (Object.keys(limits).length === 0) return;
    const started = await Promise.all(
      share.ranges.map(async (range) =>
        countStarted(await client.workflow.getHandle(rangeWorkflowId(jobId, range)).describe()),
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
      clock,
    });
  return {
    known: Promise.race([answer, clock.sleep(FIRST_ANSWER_MS)]),
    throttle: throttle(({ bytesPerSecond }) => bytesPerSecond),
    requestThrottle: throttle(({ requestsPerSecond }) => requestsPerSecond),
    onRetry: slowDownListener(client, jobId, clock),
    close: () => {
      clearTimeout(again);
      clearInterval(timer);
    },
    steps: 0,
  };
}

/**
 * Tells all running ranges of the job that a store asks for fewer requests. However many workers do so, the
 * history of a range grows by one signal in each slot of time: the server drops a signal whose id it knows.
 */
function slowDownListener(client: Client, jobId: string, { nowMs }: Clock): StepShare['onRetry'] {
  let sentSlot = 0;
  const { workflowService, options } = client;
  const { identity, namespace } = options;
  const slowDown = (workflowId: string, requestId: string) =>
    workflowService.signalWorkflowExecution({
      ...{ namespace, identity, requestId },
      workflowExecution: { workflowId },
      signalName: SIGNALS.slowDown,
    });
  return (failure) => {
    const slot = Math.floor(nowMs() / SLOW_DOWN_EVERY_MS);
    if (failure !== 'slowDown' || slot === sentSlot) return;
    sentSlot = slot;
    askShare(client, jobId)
      .then(({ ranges }) =>
        // A range that has just ended refuses it.
        Promise.allSettled(ranges.map((range) => slowDown(rangeWorkflowId(jobId, range), `slow-${slot}`))),
      )
      .catch(() => {});
  };
}

function askShare(client: Client, jobId: string): Promise<Share> {
  return client.workflow.getHandle(jobWorkflowId(jobId)).query<Share>(QUERIES.share);
}
