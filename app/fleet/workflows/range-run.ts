/** The state of a running range: waiting parts, running parts, and the sums. */
import type { CancellationScope } from '@temporalio/workflow';
import { type FleetCounts, NO_FLEET_COUNTS } from '../../../engine/api/jobs/fleet.ts';
import type { FleetActivities } from '../activity-types.ts';
import type {
  RangeEnd,
  RangeInput,
  RangeRest,
  RangeState,
  RangeStatus,
  RangeTask,
} from '../fleet-messages.ts';
import { formatRuns, parseRuns } from '../part-runs.ts';
import { callActivities } from './call-activities.ts';
import { createPace } from './pace.ts';

export interface RangeRun {
  readonly input: RangeInput;
  readonly steps: FleetActivities;
  readonly pace: ReturnType<typeof createPace>;
  waiting: RangeTask[];
  readonly running: Set<CancellationScope>;
  readonly failedParts: Set<number>;
  readonly deletingParts: Set<number>;
  setAside: RangeRest['setAside'];
  counts: FleetCounts;
  /** Counts from the cuts. */
  filesKnown: number;
  bytesKnown: number;
  next: number;
  done: number;
  isLast: boolean;
  isCutting: boolean;
  isPaused: boolean;
  /** Ends the range, once nothing runs. */
  failure: unknown;
  /** Grows with every event of the range. */
  changes: number;
}

export function openRange(input: RangeInput): RangeRun {
  const { resumed, rest, round, settings } = input;
  const known = resumed?.end ?? rest;
  const isMove = round === 'move';
  return {
    input,
    steps: callActivities(settings, input.worker),
    pace: createPace(settings.partsAtOnce, input.pace),
    waiting: [...(resumed?.waiting ?? firstTasks(input))],
    running: new Set(),
    failedParts: new Set(resumed || round === 'delete' ? parseRuns(known?.failedParts ?? '') : []),
    deletingParts: new Set(resumed || round === 'retry' ? parseRuns(known?.deletingParts ?? '') : []),
    setAside: resumed || round === 'delete' ? (known?.setAside ?? []) : [],
    counts: resumed?.end.counts ?? NO_FLEET_COUNTS,
    ...knownOf(resumed),
    next: resumed?.next ?? 0,
    done: resumed?.end.parts ?? 0,
    isLast: resumed?.isLast ?? !isMove,
    isCutting: false,
    isPaused: resumed?.isPaused ?? false,
    failure: undefined,
    changes: 0,
  };
}

/** The known sizes of the parts that have ended and of those that wait. */
function knownOf(resumed: RangeState | undefined): Pick<RangeRun, 'bytesKnown' | 'filesKnown'> {
  const sizes = (resumed?.waiting ?? []).flatMap((task) => (task.type === 'part' ? [task] : []));
  const { bytes = 0, files = 0 } = resumed?.end.counts ?? {};
  return {
    filesKnown: sizes.reduce((sum, task) => sum + task.files, files),
    bytesKnown: sizes.reduce((sum, task) => sum + task.bytes, bytes),
  };
}

/** The rest that the round before left. */
function firstTasks({ rest, round }: RangeInput): RangeTask[] {
  if (!rest || round === 'move') return [];
  if (round === 'delete') return parseRuns(rest.deletingParts).map((number) => ({ type: 'delete', number }));
  return [
    ...parseRuns(rest.failedParts).map((number) => ({ type: 'retry', number }) as const),
    ...rest.setAside.map(taskAgain),
  ];
}

function taskAgain({ isDeleting, large, ...part }: RangeRest['setAside'][number]): RangeTask {
  if (isDeleting) return { type: 'delete', number: part.number, isAgain: true };
  return large === undefined ? { type: 'again', ...part } : { type: 'large', ...part, large, isAgain: true };
}

export function endOf(run: RangeRun): RangeEnd {
  const { counts, deletingParts, done, failedParts, input, setAside: aside } = run;
  return {
    range: input.range,
    parts: done,
    counts,
    failedParts: formatRuns(failedParts),
    setAside: aside,
    deletingParts: formatRuns(deletingParts),
    pace: run.pace.atOnce(),
    ...(run.isLast && run.waiting.length === 0 ? {} : { isStopped: true }),
  };
}

export function rangeStateOf(run: RangeRun): RangeState {
  return {
    next: run.next,
    isLast: run.isLast,
    waiting: run.waiting,
    end: endOf(run),
    isPaused: run.isPaused,
  };
}

export function statusOf(run: RangeRun): RangeStatus {
  const { bytesKnown, counts, done, filesKnown, input, isLast, pace, running, waiting } = run;
  return {
    range: input.range,
    partsDone: done,
    partsAtOnce: pace.atOnce(),
    partsRunning: running.size,
    partsWaiting: waiting.length,
    isListed: isLast,
    counts,
    filesKnown,
    bytesKnown,
  };
}
