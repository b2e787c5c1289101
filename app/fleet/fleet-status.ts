/** What a person is shown of a job: its own sums and those of its running ranges together. */
import { addFleetCounts, type FleetCounts, type FleetKind } from '../../engine/api/fleet.ts';
import type { FleetLimits, JobPhase, JobStatus, RangeStatus } from './fleet-messages.ts';
import type { RunningStep } from './running-steps.ts';

/** `partial`: it has ended, and some files failed. `failed`: it ended with an error. */
export type JobStateName = 'running' | 'done' | 'partial' | 'failed' | 'cancelled' | 'terminated';

export interface FleetStatus {
  readonly id: string;
  readonly kind: FleetKind;
  readonly state: JobStateName | 'paused';
  readonly phase: JobPhase;
  readonly started: string;
  readonly ended?: string;
  readonly ranges: number;
  readonly rangesDone: number;
  readonly rangesRunning: number;
  /** One letter for each range: `w` waits, `r` runs, `d` is done, `f` has failures. */
  readonly map: string;
  readonly partsDone: number;
  readonly partsRunning: number;
  readonly partsWaiting: number;
  readonly failedParts: number;
  /** The source as far as it is listed. */
  readonly filesKnown: number;
  readonly bytesKnown: number;
  /** The source is listed to its end. */
  readonly isListed: boolean;
  /** Estimated by the plan, of both places together. */
  readonly estimatedKeys: number;
  readonly counts: FleetCounts;
  /** Done, and in parts that run. */
  readonly filesDone: number;
  readonly bytesDone: number;
  readonly workers: readonly FleetWorker[];
  readonly limits: FleetLimits;
}

export interface FleetWorker {
  readonly worker: string;
  readonly steps: number;
  /** Of the steps that it runs now. */
  readonly files: number;
  readonly bytes: number;
}

export interface StatusParts {
  readonly id: string;
  readonly job: JobStatus;
  readonly ranges: readonly RangeStatus[];
  readonly steps: readonly RunningStep[];
  readonly state: JobStateName;
  readonly started: string;
  readonly ended?: string;
}

export function sumStatus({ id, job, ranges, state, steps, ...times }: StatusParts): FleetStatus {
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
    partsDone: job.partsDone + (isMoving ? sum(({ partsDone }) => partsDone) : 0),
    partsRunning: sum(({ partsRunning }) => partsRunning),
    partsWaiting: sum(({ partsWaiting }) => partsWaiting),
    failedParts: job.failedParts,
    filesKnown: done.files + sum(({ filesKnown }) => filesKnown),
    bytesKnown: done.bytes + sum(({ bytesKnown }) => bytesKnown),
    isListed: job.phase !== 'plan' && !job.map.includes('w') && ranges.every(({ isListed }) => isListed),
    estimatedKeys: job.estimatedKeys,
    counts,
    filesDone: counts.files + moving.reduce((total, { pulse }) => total + pulse.files, 0),
    bytesDone: counts.bytes + moving.reduce((total, { pulse }) => total + pulse.bytes, 0),
    workers: byWorker(steps),
    limits: job.limits,
  };
}

function byWorker(steps: readonly RunningStep[]): FleetWorker[] {
  const workers = new Map<string, FleetWorker>();
  for (const { pulse, worker } of steps) {
    const known = workers.get(worker) ?? { worker, steps: 0, files: 0, bytes: 0 };
    workers.set(worker, {
      worker,
      steps: known.steps + 1,
      files: known.files + pulse.files,
      bytes: known.bytes + pulse.bytes,
    });
  }
  return [...workers.values()].sort((left, right) => (left.worker < right.worker ? -1 : 1));
}
