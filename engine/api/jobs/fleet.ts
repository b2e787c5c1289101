/**
 * The requests and results of a fleet's steps. A fleet copies, syncs or checks one pair of places with many
 * workers, verifies a repository, or pushes a bucket's objects to one. Each step does a part of the work and
 * may be repeated on any machine. Isomorphic and JSON-safe.
 *
 * None of these values holds a key of an object or a secret, except `FleetRequest`, which is stored at the
 * destination and never sent to an orchestrator.
 */
import type { ErrorCode } from '../error.ts';
import type { ComparedBy } from '../events.ts';
import type { JobContext, VerifyRequest } from './jobs.ts';
import type { CheckTreesRequest, SyncRequest } from './trees.ts';

/** The name by which a job asks for a worker's folder. */
export const WORKER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export type FleetKind = 'copy' | 'sync' | 'check' | 'verify' | 'push';

/** The options of the jobs that a fleet takes; those of another kind are ignored. */
export interface FleetRequest
  extends Omit<
      SyncRequest,
      'backupDirectory' | 'dryRun' | 'links' | 'noCheckDestination' | 'noIndex' | 'specialModes'
    >,
    Pick<CheckTreesRequest, 'download' | 'oneWay'>,
    VerifyRequest {
  /** For `verify`, source and destination are the repository; for `push`, the destination is. */
  readonly kind: FleetKind;
  /** For `push`. Default `main`. */
  readonly branch?: string;
  readonly message?: string;
  /** The first step fills it in. */
  readonly author?: string;
  /** The folder of the dataset that the objects replace, such as `raw/2026`. Default: the whole dataset. */
  readonly into?: string;
  /**
   * For `push`: push the folders of these workers instead of a bucket. Each is a range. Source and
   * destination are then the repository.
   */
  readonly workers?: readonly string[];
  /** Each of these folders lies below the name of its worker. Default: they share one tree of paths. */
  readonly byWorker?: boolean;
  /** About how many ranges list at the same time. Default 64. A small source has fewer. */
  readonly rangesWanted?: number;
  /** A part ends at this many files. Default 20,000. */
  readonly partFilesMax?: number;
  /** A part ends at this many bytes. Default 64 GiB. */
  readonly partBytesMax?: number;
  /** Objects of this size or more are moved in pieces by several workers. Default 5 GiB. */
  readonly largeBytes?: number;
}

/**
 * Names a fleet's work, for every step after the first. `destination` is a URL with the flags about the place
 * (endpoint, region, profile) and without secrets: everything else lies there, below `.dray-fleet/ID/`.
 */
export interface FleetWork {
  readonly id: string;
  readonly destination: string;
  /** SHA-256 of the stored request. A worker refuses a request that somebody has changed. */
  readonly digest: string;
}

/** A range is a stretch of the key space; ranges count from 0. */
export interface FleetPlan {
  readonly ranges: number;
  /** A rough count for both places together, from the samples. */
  readonly estimatedKeys: number;
}

export interface CutRequest {
  readonly range: number;
  /** The first part that the caller does not know yet; parts of a range count from 0. */
  readonly first: number;
  /** Return after this many parts, so that they run before the listing ends. */
  readonly cutsMax: number;
}

export interface CutPart {
  /** Files of the source when it was listed, without objects that are moved in pieces. */
  readonly files: number;
  readonly bytes: number;
  /** The sizes of the objects that are moved in pieces. */
  readonly largeBytes: readonly number[];
}

export interface CutResult {
  /** `first`, `first + 1` and so on. */
  readonly parts: readonly CutPart[];
  /** The range has no more parts. */
  readonly isLast: boolean;
}

export interface PartRequest {
  readonly range: number;
  readonly number: number;
}

export interface RunPartRequest extends PartRequest {
  /**
   * For a sync: the first round counts what it would delete, and the second, once all parts have succeeded
   * and `approveDeletes` has agreed, deletes it. Default `count`.
   */
  readonly deletes?: 'count' | 'carryOut';
}

/** One object that is moved in pieces, by its place in the part's `largeBytes`. */
export interface LargeRequest extends PartRequest {
  readonly large: number;
}

export interface LargeBegun {
  /**
   * How many pieces remain to be moved with `moveLargePieces` before `endLarge`. 0: the object needs neither;
   * it is equal already, the store has copied it, or it failed.
   */
  readonly pieces: number;
  readonly counts: FleetCounts;
}

/** Pieces count from 0; `to` is excluded. */
export interface LargePiecesRequest extends LargeRequest {
  readonly from: number;
  readonly to: number;
}

/** Sums of one step, or of many. */
export interface FleetCounts {
  /** Files of the source that pass the filter. */
  readonly files: number;
  readonly bytes: number;
  readonly copiedFiles: number;
  readonly copiedBytes: number;
  /** The part of these that the store copied itself. */
  readonly copiedInStore: number;
  /** Files with equal content that only got a new time. */
  readonly touchedFiles: number;
  readonly unchangedFiles: number;
  readonly skippedFiles: number;
  /** Results of a check. */
  readonly differing: number;
  readonly onlyInSource: number;
  /** In a check, and in the first round of a sync: files that only the destination has. */
  readonly onlyInDestination: number;
  /** In a check: files that were compared by size alone. */
  readonly uncertain: number;
  /** In a sync: files of the destination that were seen. */
  readonly destinationFiles: number;
  /** The part of `onlyInDestination` that are descriptions of repositories which the sync may not delete. */
  readonly repositories: number;
  /** Files of a sync that cannot be written until the second round has deleted what is in their way. */
  readonly waiting: number;
  readonly deletedFiles: number;
  /** In a verification: commits that were read. */
  readonly commits: number;
  /**
   * Objects and packs that were checked by a verification, or stored by a push. One that two parts name
   * counts twice.
   */
  readonly objects: number;
  readonly missing: number;
  /** Objects, commits, segments and refs. */
  readonly damaged: number;
  /** Paths that cannot be restored whole. */
  readonly affectedPaths: number;
  readonly failed: number;
  readonly failedBy: Readonly<Partial<Record<ErrorCode, number>>>;
  /** In a check: how the files were compared. */
  readonly comparedBy: Readonly<Partial<Record<ComparedBy, number>>>;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly requests: number;
  readonly dollars: number;
}

export const NO_FLEET_COUNTS: FleetCounts = {
  files: 0,
  bytes: 0,
  copiedFiles: 0,
  copiedBytes: 0,
  copiedInStore: 0,
  touchedFiles: 0,
  unchangedFiles: 0,
  skippedFiles: 0,
  differing: 0,
  onlyInSource: 0,
  onlyInDestination: 0,
  uncertain: 0,
  destinationFiles: 0,
  repositories: 0,
  waiting: 0,
  deletedFiles: 0,
  commits: 0,
  objects: 0,
  missing: 0,
  damaged: 0,
  affectedPaths: 0,
  failed: 0,
  failedBy: {},
  comparedBy: {},
  sentBytes: 0,
  receivedBytes: 0,
  requests: 0,
  dollars: 0,
};

export function addFleetCounts(left: FleetCounts, right: FleetCounts): FleetCounts {
  return addFields(left, right) as unknown as FleetCounts;
}

type Sums = Readonly<Record<string, unknown>>;

function addFields(left: object, right: object): Sums {
  const sums: Record<string, unknown> = { ...left };
  for (const [name, value] of Object.entries(right)) {
    const other = sums[name];
    if (typeof value === 'number') sums[name] = ((other as number | undefined) ?? 0) + value;
    else sums[name] = addFields((other as object | undefined) ?? {}, value as object);
  }
  return sums;
}

/**
 * The verdict on a sync's deletions. `message` names the bound and the places, and no key.
 */
export type DeletesVerdict =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly code: 'tooManyDeletes' | 'partial'; readonly message: string };

/** The result of a push's last step. */
export interface PublishResult {
  /** The commit that the branch names now; absent when nothing was published, or there is none. */
  readonly commit?: string;
  readonly branch?: string;
  /** False: the branch had everything already. */
  readonly isNew?: boolean;
  /** Why the branch was left as it is. `message` names no key. */
  readonly refused?: { readonly code: 'conflict' | 'partial'; readonly message: string };
}

export interface FinishRequest {
  readonly counts: FleetCounts;
  /** `stopped`: the fleet was cancelled, or ended with an error. */
  readonly result: 'done' | 'stopped';
  readonly startedMs: number;
  readonly ranges: number;
  readonly parts: number;
  /** Why no deletions were carried out, or why the fleet stopped. */
  readonly reason?: string;
}

/** The document `report.json`, also the answer of `finishFleet`. */
export interface FleetReport extends FinishRequest {
  readonly report: 'fleet';
  readonly version: 1;
  readonly id: string;
  readonly kind: FleetKind;
  readonly source: string;
  readonly destination: string;
  readonly finishedMs: number;
  /** For a push. */
  readonly published?: PublishResult;
}

/**
 * The steps, in the order in which they run. Each is idempotent: after a crash it is called again, on any
 * machine. They throw `DrayError`; `retry` other than `no` says that a later call may succeed.
 *
 * `planRanges`, then for every range `cutRange` until `isLast`; for every part `runPart`, and for each of its
 * large objects `beginLarge`, `moveLargePieces` and `endLarge`. For a sync then `approveDeletes` with the
 * sums, and if it allows them `runPart` with `carryOut` for each part with `onlyInDestination` or `waiting`.
 * At the end, `finishFleet`, which publishes a push's commit if nothing failed.
 */
export interface FleetSteps {
  /**
   * Checks the request and stores it. Called once, where the user is; the id must be new or have the same
   * request.
   */
  begin(context: JobContext, id: string, request: FleetRequest): Promise<FleetWork>;
  planRanges(context: JobContext, work: FleetWork): Promise<FleetPlan>;
  cutRange(context: JobContext, work: FleetWork, request: CutRequest): Promise<CutResult>;
  /** Files that failed are counted and named in the part's document of failures; the others continue. */
  runPart(context: JobContext, work: FleetWork, request: RunPartRequest): Promise<FleetCounts>;
  /**
   * Copies or checks the part's failed files again. `failed` counts those that failed again, `retried` the
   * ones it tried: a caller subtracts these from its sum of failures.
   */
  retryFailed(
    context: JobContext,
    work: FleetWork,
    request: PartRequest,
  ): Promise<{ readonly retried: number; readonly counts: FleetCounts }>;
  beginLarge(context: JobContext, work: FleetWork, request: LargeRequest): Promise<LargeBegun>;
  /** A failure is counted by `endLarge`, which is called in any case. */
  moveLargePieces(context: JobContext, work: FleetWork, request: LargePiecesRequest): Promise<FleetCounts>;
  endLarge(context: JobContext, work: FleetWork, request: LargeRequest): Promise<FleetCounts>;
  approveDeletes(context: JobContext, work: FleetWork, counts: FleetCounts): Promise<DeletesVerdict>;
  /** Writes `report.json`. A fleet that is done without failures removes its other documents. */
  finish(context: JobContext, work: FleetWork, request: FinishRequest): Promise<FleetReport>;
}
