/** The status of a job as a person sees it: its sums, including those of its running ranges. */
import type { FleetJobState } from '../../engine/api/host/fleet.ts';
import { addFleetCounts, type FleetCounts, type FleetKind } from '../../engine/api/jobs/fleet.ts';
import type {
  FleetLimits,
  JobEnd,
  JobPhase,
  JobStatus,
  ListedEnd,
  RangeStatus,
  WorkerTotal,
} from './fleet-messages.ts';
import type { RunningStep } from './worker/running-steps.ts';

export interface FleetStatus {
  readonly id: string;
  readonly kind: FleetKind;
  readonly state: FleetJobState;
  readonly phase: JobPhase;
  readonly started: string;
  readonly ended?: string;
  readonly ranges: number;
  readonly rangesDone: number;
  readonly rangesRunning: number;
  /**
   * One letter for each range: `w` waits, `r` runs, `d` is done, `f` has failures, `s` did not end, because
   * the job was cancelled or failed.
   */
  readonly map: string;
  /** The running ranges, in order. */
  readonly running: readonly RunningRange[];
  readonly partsDone: number;
  readonly partsRunning: number;
  readonly partsWaiting: number;
  readonly failedParts: number;
  /** Files of the listed part of the source. */
  readonly filesKnown: number;
  readonly bytesKnown: number;
  /** The source is listed to its end. */
  readonly isListed: boolean;
  /** The plan's estimate for both places together. */
  readonly estimatedKeys: number;
  readonly counts: FleetCounts;
  /** Done, and in parts that run. */
  readonly filesDone: number;
  readonly bytesDone: number;
  readonly workers: readonly FleetWorker[];
  /** Workers that the job waits for: no other has their folders. */
  readonly awaited: readonly string[];
  readonly limits: FleetLimits;
}

export interface RunningRange {
  readonly range: number;
  readonly partsDone: number;
  readonly partsRunning: number;
  readonly partsWaiting: number;
  /** Parts that may run at the same time: fewer after a store asked for fewer requests. */
  readonly partsAtOnce: number;
  /** Done, and in parts that run. */
  readonly files: number;
  readonly filesKnown: number;
  /** `filesKnown` counts all files. */
  readonly isListed: boolean;
  readonly failed: number;
  /** The workers that run its steps now. */
  readonly workers: readonly string[];
}

export interface FleetWorker {
  readonly worker: string;
  readonly steps: number;
  /** Files and bytes of the steps that it runs now. */
  readonly files: number;
  readonly bytes: number;
  /** The ranges of these steps. */
  readonly ranges: readonly number[];
  /** Absent until its first heartbeat. */
  readonly total?: WorkerTotal;
}

export interface StatusParts {
  readonly id: string;
  readonly job: JobStatus;
  readonly ranges: readonly RangeStatus[];
  readonly steps: readonly RunningStep[];
  readonly awaited?: readonly string[];
  readonly state: FleetJobState;
  readonly started: string;
  readonly ended?: string;
}

export function sumStatus({
  awaited = [],
  id,
  job,
  ranges,
  state,
  steps,
  ...times
}: StatusParts): FleetStatus {
  const sum = (read: (range: RangeStatus) => number) =>
    ranges.reduce((total, range) => total + read(range), 0);
  const counts = ranges.reduce((total, range) => addFleetCounts(total, range.counts), job.counts);
  const done = job.counts;
  const isMoving = job.phase === 'move';
  const moving = isMoving ? steps.filter(({ type }) => type === 'runPart') : [];
  return {
    id,
    kind: job.kind,
    state: state === 'running' && job.isPaused ? 'paused' : state,
    phase: job.phase,
    ...times,
    ranges: job.ranges,
    rangesDone: job.rangesDone,
    rangesRunning: ranges.length,
    map: job.map,
    running: ranges
      .map((range) => runningRange(range, steps))
      .sort((left, right) => left.range - right.range),
    partsDone: job.partsDone + (isMoving ? sum(({ partsDone }) => partsDone) : 0),
    ...begunParts(
      { partsRunning: sum((range) => range.partsRunning), partsWaiting: sum((range) => range.partsWaiting) },
      steps,
    ),
    failedParts: job.failedParts,
    filesKnown: done.files + sum(({ filesKnown }) => filesKnown),
    bytesKnown: done.bytes + sum(({ bytesKnown }) => bytesKnown),
    isListed: job.phase !== 'plan' && !job.map.includes('w') && ranges.every(({ isListed }) => isListed),
    estimatedKeys: job.estimatedKeys,
    counts,
    filesDone: counts.files + moving.reduce((total, { pulse }) => total + pulse.files, 0),
    bytesDone: counts.bytes + moving.reduce((total, { pulse }) => total + pulse.bytes, 0),
    workers: byWorker(steps),
    awaited: [...awaited].sort(),
    limits: job.limits,
  };
}

type EndedCard = Pick<FleetStatus, 'id' | 'kind'> & Pick<StatusParts, 'ended' | 'started' | 'state'>;

/** The status of a job that has ended by itself or was cancelled. No worker has to answer for it. */
export function endedStatus(end: JobEnd, { ended, id, kind, started, state }: EndedCard): FleetStatus {
  const { counts, estimatedKeys, failedParts, limits, map, parts, ranges, startedMs } = end;
  const job: JobStatus = {
    ...{ kind, counts, estimatedKeys, failedParts, limits, map, ranges, startedMs },
    phase: 'ended',
    isPaused: false,
    rangesRunning: [],
    rangesDone: countDone(map),
    partsDone: parts,
  };
  return sumStatus({ id, job, ranges: [], steps: [], state, started, ...(ended && { ended }) });
}

/** For lists, which read only the memo of a job. */
export function listedEnd(
  kind: FleetKind,
  { counts, refused, result }: Pick<JobEnd, 'counts' | 'refused' | 'result'>,
): ListedEnd {
  return { result, failed: counts.failed + (refused ? 1 : 0), found: foundBy(kind, counts) };
}

/** In a sync, files that only the destination has are work, not a finding. */
function foundBy(kind: FleetKind, counts: FleetCounts): number {
  if (kind === 'check') return counts.differing + counts.onlyInSource + counts.onlyInDestination;
  return kind === 'verify' ? counts.missing + counts.damaged : 0;
}

export function endedState({ failed, found = 0, result }: ListedEnd): FleetJobState {
  if (result === 'stopped') return 'cancelled';
  if (failed > 0) return 'partial';
  return found > 0 ? 'found' : 'done';
}

/** The number of ranges in a map that have ended. */
export function countDone(map: string): number {
  return [...map].filter((letter) => letter === 'd' || letter === 'f').length;
}

type PartCounts = Pick<RangeStatus, 'partsRunning' | 'partsWaiting'>;

/** A workflow counts a part as running from its request on; it waits until a worker has begun it. */
function begunParts(
  { partsRunning, partsWaiting }: PartCounts,
  steps: readonly Pick<RunningStep, 'type'>[],
): PartCounts {
  const begun = Math.min(partsRunning, steps.filter(({ type }) => type !== 'cutRange').length);
  return { partsRunning: begun, partsWaiting: partsWaiting + partsRunning - begun };
}

function runningRange(
  { counts, filesKnown, isListed, partsAtOnce, partsDone, partsRunning, partsWaiting, range }: RangeStatus,
  steps: readonly RunningStep[],
): RunningRange {
  const own = steps.filter(({ pulse }) => pulse.range === range);
  const inParts = own.filter(({ type }) => type === 'runPart');
  return {
    ...{ range, partsAtOnce, partsDone, filesKnown, isListed },
    ...begunParts({ partsRunning, partsWaiting }, own),
    files: counts.files + inParts.reduce((sum, { pulse }) => sum + pulse.files, 0),
    failed: Math.max(0, counts.failed),
    workers: [...new Set(own.map(({ worker }) => worker))].sort(),
  };
}

function byWorker(steps: readonly RunningStep[]): FleetWorker[] {
  const workers = Map.groupBy(steps, ({ worker }) => worker);
  return [...workers]
    .map(([worker, own]): FleetWorker => {
      const pulses = own.map(({ pulse }) => pulse);
      const totals = pulses.flatMap(({ total }) => (total ? [total] : []));
      const newest = totals.sort((left, right) => right.atMs - left.atMs)[0];
      return {
        worker,
        steps: own.length,
        files: pulses.reduce((sum, { files }) => sum + files, 0),
        bytes: pulses.reduce((sum, { bytes }) => sum + bytes, 0),
        ranges: [...new Set(pulses.flatMap(({ range }) => (range === undefined ? [] : [range])))].sort(
          (left, right) => left - right,
        ),
        ...(newest && { total: newest }),
      };
    })
    .sort((left, right) => (left.worker < right.worker ? -1 : 1));
}
