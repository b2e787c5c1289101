/** Follows a job until it ends, as progress events. */
import { DrayError } from '../../engine/api/error.ts';
import { type FleetCounts, type FleetKind, NO_FLEET_COUNTS } from '../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { systemClock } from '../../engine/base/clock.ts';
import type { FleetClient, JobMemo } from './fleet-client.ts';
import type { JobEnd } from './fleet-messages.ts';
import type { FleetStatus } from './fleet-status.ts';

const LOOK_EVERY_MS = 1000;
/** A look asks each running range, which costs its worker time. With more ranges, looks are rarer. */
const RANGES_IN_A_SECOND = 4;

export interface FleetEndSummary {
  readonly id: string;
  readonly kind: FleetKind;
  readonly source: string;
  readonly destination: string;
  /** `started`: the job runs, and nobody follows it. */
  readonly result: 'started' | 'done' | 'stopped';
  readonly ranges: number;
  readonly parts: number;
  /** Parts with files that failed. Their names are at the destination. */
  readonly failedParts: number;
  readonly failed: number;
  readonly counts: FleetCounts;
  /** Why a sync deleted nothing, or a push committed nothing. */
  readonly refused?: NonNullable<JobEnd['refused']>;
  /** For a push. */
  readonly published?: NonNullable<JobEnd['published']>;
}

export interface FollowRequest {
  readonly client: FleetClient;
  readonly memo: JobMemo;
  readonly isDetached: boolean;
}

export async function followJob(
  context: JobContext,
  { client, isDetached, memo }: FollowRequest,
): Promise<FleetEndSummary> {
  if (isDetached)
    return {
      ...memo,
      result: 'started',
      ranges: 0,
      parts: 0,
      failedParts: 0,
      failed: 0,
      counts: NO_FLEET_COUNTS,
    };
  const looks = new AbortController();
  const signal = AbortSignal.any([context.signal, looks.signal]);
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(new DrayError('aborted', 'Stopped on request.'));
    context.signal.addEventListener('abort', stop, { once: true });
    if (context.signal.aborted) stop();
  });
  const watching = watch(context, client, memo.id, signal);
  try {
    const { counts, failedParts, parts, published, ranges, refused, result } = await Promise.race([
      client.result(memo.id),
      stopped,
    ]);
    const failed = counts.failed;
    return {
      ...memo,
      result,
      ranges,
      parts,
      failedParts,
      failed,
      counts,
      ...(refused && { refused }),
      ...(published && { published }),
    };
  } finally {
    looks.abort();
    await watching;
  }
}

/** Never fails: the job continues without a follower. */
async function watch(
  context: JobContext,
  client: FleetClient,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  let isSilent = false;
  let reported = '';
  let ranges = 0;
  while (!signal.aborted) {
    try {
      const status = await client.status(id);
      isSilent = false;
      ranges = status.rangesRunning;
      if (signal.aborted) return;
      emitProgress(context, status);
      const awaited = status.awaited.join(', ');
      if (awaited !== '' && awaited !== reported) emitAwaited(context, id, awaited);
      reported = awaited;
    } catch {
      if (!isSilent && !signal.aborted)
        context.emit({
          type: 'warning',
          warning: 'noFleetWorker',
          message: `No worker answers for the job ${id}. It waits until you start one with "dray fleet worker".`,
        });
      isSilent = true;
    }
    const pauseMs = LOOK_EVERY_MS * Math.max(1, ranges / RANGES_IN_A_SECOND);
    await systemClock.sleep(pauseMs, signal).catch(() => {});
  }
}

function emitAwaited({ emit }: JobContext, id: string, workers: string): void {
  const message = `The job ${id} waits for these workers: ${workers}. Start each on its machine: dray fleet worker --name NAME --folder FOLDER.`;
  emit({ type: 'warning', warning: 'noFleetWorker', message });
}

function emitProgress(context: JobContext, status: FleetStatus): void {
  const { bytesDone, bytesKnown, counts, filesDone, filesKnown, isListed, kind, partsRunning } = status;
  context.emit({
    type: 'progress',
    phase: kind === 'check' || kind === 'verify' ? 'verify' : 'upload',
    filesDone,
    filesTotal: Math.max(filesKnown, filesDone),
    bytesDone,
    bytesTotal: Math.max(bytesKnown, bytesDone),
    isCounting: !isListed,
    requests: counts.requests,
    inFlight: partsRunning,
  });
}
