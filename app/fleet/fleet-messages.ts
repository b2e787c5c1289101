/**
 * The messages of the command, the workflows and the activities of a fleet through Temporal. Everything
 * here is stored in Temporal's history, so it holds numbers and the name of the work, and no key of an object
 * and no secret.
 */
import type { FleetCounts, FleetKind, FleetWork, PublishResult } from '../../engine/api/jobs/fleet.ts';
import type { PartRuns } from './part-runs.ts';

export const JOB_WORKFLOW = 'fleetJob';

export const SIGNALS = {
  pause: 'pause',
  resume: 'resume',
  retryFailed: 'retryFailed',
  setLimits: 'setLimits',
  slowDown: 'slowDown',
} as const;

export const QUERIES = { status: 'status', share: 'share' } as const;

/** Shared by all workers. Absent: unlimited. */
export interface FleetLimits {
  readonly bytesPerSecond?: number;
  readonly requestsPerSecond?: number;
}

export interface FleetSettings {
  /** Ranges that list and copy at the same time. */
  readonly rangesAtOnce: number;
  /** Parts of one range that are under way at the same time, at most. */
  readonly partsAtOnce: number;
  /** A part that fails this often as a whole is set aside. */
  readonly attemptsMax: number;
  /** A worker that is silent for this long counts as dead. */
  readonly silenceMaxMs: number;
  /** A workflow begins a new history after this many events. Temporal's limit is 51,200. */
  readonly eventsMax: number;
}

export const DEFAULT_SETTINGS: FleetSettings = {
  rangesAtOnce: 16,
  partsAtOnce: 16,
  attemptsMax: 5,
  silenceMaxMs: 20_000,
  eventsMax: 10_000,
};

export interface JobInput {
  readonly work: FleetWork;
  readonly kind: FleetKind;
  readonly settings: FleetSettings;
  readonly limits: FleetLimits;
  /** The workers whose folders are pushed: the range of each runs there, and nowhere else. */
  readonly workers?: readonly string[];
  /** The final state of the previous run, if this one tries its failed files again. */
  readonly retries?: JobEnd;
  /** The state at the end of the previous history. */
  readonly resumed?: FleetWorkflowState;
}

/** `plan`, `move`, `retry` (failed files again), `delete` (second round of a sync), `finish`. */
export type JobPhase = 'plan' | 'move' | 'retry' | 'delete' | 'finish' | 'ended';

/** The state of a job between two ranges. */
export interface FleetWorkflowState {
  readonly startedMs: number;
  readonly phase: JobPhase;
  readonly ranges: number;
  readonly estimatedKeys: number;
  /** The next range of the phase. */
  readonly nextRange: number;
  readonly parts: number;
  readonly counts: FleetCounts;
  readonly rests: readonly RangeRest[];
  /** The next range begins with it. */
  readonly pace: number;
  readonly isPaused: boolean;
  readonly limits: FleetLimits;
  readonly wantsRetry: boolean;
}

interface PartSize {
  readonly number: number;
  readonly files: number;
  readonly bytes: number;
}

/** A part that failed repeatedly as a whole, or one large object of a part, or the deletions of a part. */
interface SetAsidePart extends PartSize {
  readonly large?: number;
  readonly isDeleting?: true;
}

/** The work that a range leaves to a later round. */
export interface RangeRest {
  readonly range: number;
  /** Parts with files that failed. */
  readonly failedParts: PartRuns;
  readonly setAside: readonly SetAsidePart[];
  /** Parts of a sync that have something to delete, or that wait for it. */
  readonly deletingParts: PartRuns;
  /** The job was cancelled or failed before the range had ended. */
  readonly isStopped?: true;
}

/** The result of a range in one round. */
export interface RangeEnd extends RangeRest {
  readonly parts: number;
  /** Added to the job's counts. Fields can be negative: a retry subtracts failures. */
  readonly counts: FleetCounts;
  /** Steps that it might run at the same time in the end. */
  readonly pace: number;
}

export interface RangeInput {
  readonly work: FleetWork;
  readonly range: number;
  readonly round: 'move' | 'retry' | 'delete';
  readonly settings: FleetSettings;
  /** The only worker that can do its steps. */
  readonly worker?: string;
  /** Steps that run at the same time in the beginning. */
  readonly pace: number;
  /** The rest that the round before left. */
  readonly rest?: RangeRest;
  /** The state at the end of the previous history. */
  readonly resumed?: RangeState;
}

/** A step of a range that can run on any worker. */
export type RangeTask =
  | ({ readonly type: 'part' | 'again' } & PartSize)
  | ({ readonly type: 'large'; readonly large: number; readonly isAgain?: true } & PartSize)
  | { readonly type: 'retry'; readonly number: number }
  | { readonly type: 'delete'; readonly number: number; readonly isAgain?: true };

export interface RangeState {
  readonly next: number;
  readonly isLast: boolean;
  readonly waiting: readonly RangeTask[];
  readonly end: RangeEnd;
  readonly isPaused: boolean;
}

/** The answer of a range to `status`. */
export interface RangeStatus {
  readonly range: number;
  readonly partsWaiting: number;
  readonly partsRunning: number;
  readonly partsDone: number;
  /** Fewer than the settings allow after a store asked for fewer requests. */
  readonly partsAtOnce: number;
  /** The listing of the range has ended, so the known counts are final. */
  readonly isListed: boolean;
  readonly counts: FleetCounts;
  /** Counts of the source in the known parts. */
  readonly filesKnown: number;
  readonly bytesKnown: number;
}

/** The answer of a job to `status`, without the state that only its running ranges know. */
export interface JobStatus {
  readonly kind: FleetKind;
  readonly phase: JobPhase;
  readonly isPaused: boolean;
  readonly startedMs: number;
  readonly ranges: number;
  readonly estimatedKeys: number;
  readonly rangesRunning: readonly number[];
  readonly rangesDone: number;
  readonly partsDone: number;
  readonly failedParts: number;
  readonly counts: FleetCounts;
  readonly limits: FleetLimits;
  readonly workers?: readonly string[];
  /** One letter for each range: waiting, running, done, failed, stopped. */
  readonly map: string;
}

/** The answer of a job to `share`. */
export interface Share {
  /** The numbers of the running ranges. */
  readonly ranges: readonly number[];
  readonly limits: FleetLimits;
}

export interface JobEnd {
  readonly result: 'done' | 'stopped';
  readonly counts: FleetCounts;
  readonly ranges: number;
  readonly parts: number;
  readonly failedParts: number;
  readonly startedMs: number;
  /** Why nothing was deleted, or committed. */
  readonly refused?: {
    readonly code: 'tooManyDeletes' | 'partial' | 'conflict';
    readonly message: string;
  };
  /** For a push. */
  readonly published?: Omit<PublishResult, 'refused'>;
  readonly rests: readonly RangeRest[];
  readonly limits: FleetLimits;
  readonly estimatedKeys: number;
  /** The map of the last status. */
  readonly map: string;
}

/** In the memo of a job that has ended, for lists. The memo of a running one says whether it `isPaused`. */
export interface ListedEnd {
  readonly result: JobEnd['result'];
  /** Files, and a refusal as one more. */
  readonly failed: number;
  /** What a check or a verification found. Absent in the memo of an older worker. */
  readonly found?: number;
}

/** In each heartbeat of an activity. */
export interface Pulse {
  readonly files: number;
  readonly bytes: number;
  readonly range?: number;
  readonly part?: number;
  /** Totals of all steps of the job on this worker. */
  readonly total?: WorkerTotal;
}

/** A worker's share of a job since the worker started. */
export interface WorkerTotal {
  /** Steps that have ended. */
  readonly steps: number;
  /** Files and bytes, including those of running steps. */
  readonly files: number;
  readonly bytes: number;
  /** By the worker's own clock. */
  readonly atMs: number;
}

/** A workflow's id names its work, so a job cannot be started twice. */
export function jobWorkflowId(id: string): string {
  return `dray-fleet-${id}`;
}

export function rangeWorkflowId(id: string, range: number): string {
  return `${jobWorkflowId(id)}/range-${range}`;
}

/** The queue of one worker, for the steps that need its folder. */
export function ownQueue(queue: string, worker: string): string {
  return `${queue}:${worker}`;
}
