/** Finds another running worker of the same name: a job would push the folder of either. */
import { hostname } from 'node:os';
import type { NativeConnection } from '@temporalio/worker';
import { DrayError } from '../../../engine/api/error.ts';
import { systemClock } from '../../../engine/base/clock.ts';
import { ownQueue } from '../fleet-messages.ts';
import type { TemporalOptions } from '../temporal-options.ts';

/** A worker asks for steps at least once a minute. */
const RECENT_MS = 75_000;
/** Temporal's code for a queue of activities. */
const ACTIVITIES = 2;

/** Temporal shows it, and `isElsewhere` reads it. */
export const WORKER_IDENTITY = `${hostname()}:${process.pid}`;

interface Poller {
  readonly identity: string;
  readonly askedMs: number;
}

/** @throws `usage` */
export async function checkNameFree(
  connection: NativeConnection,
  { namespace, queue }: TemporalOptions,
  worker: string,
): Promise<void> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: ownQueue(queue, worker) },
    taskQueueType: ACTIVITIES,
  });
  const seen = (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    askedMs: Number(lastAccessTime?.seconds ?? 0) * 1000,
  }));
  const other = seen.find((poller) => isElsewhere(poller, systemClock.nowMs()));
  if (!other) return;
  throw new DrayError('usage', `The worker ${other.identity} has the name "${worker}" already.`, {
    advice: 'Choose another with --name.',
  });
}

/** A dead worker stays in Temporal's list for minutes, and the next one on its machine takes its name. */
export function isElsewhere({ askedMs, identity }: Poller, nowMs: number): boolean {
  if (identity === WORKER_IDENTITY || nowMs - askedMs > RECENT_MS) return false;
  const at = identity.lastIndexOf(':');
  return identity.slice(0, at) !== hostname() || isRunning(Number(identity.slice(at + 1)));
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
