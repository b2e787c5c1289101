/**
 * The state that one run of copy or sync shares: both sides, what is remembered, counted, and what has
 * failed.
 */

import { type DrayError, type ErrorCode, toDrayError, toErrorRecord } from '../../api/error.ts';
import type { ChangeKind } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CopyRequest, SyncRequest } from '../../api/jobs/trees.ts';
import type { Clock } from '../../base/clock.ts';
import type { LeasedMemory } from '../../base/leased-memory.ts';
import type { TaskSet } from '../../base/task-set.ts';
import type { DiskRefusals } from '../../files/disk/disk-refusals.ts';
import type { NotKept } from '../../files/scan/local-tree.ts';
import type { HeldParts } from '../../model/held-part.ts';
import type { TreeFilter } from '../../model/tree-filter.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { IN_REPOSITORY } from '../places/repository-guard.ts';
import type { Forecast } from './copy-forecast.ts';
import type { TreeProgress } from './copy-progress.ts';
import type { TreeConfirmation } from './move/mover.ts';
import type { TreeKnowledge } from './pair-memory.ts';
import type { TreeSide } from './sides.ts';
import type { TreeGuard } from './tree-guard.ts';
import type { TreePart } from './tree-part.ts';

export interface TreeRun<Source extends TreeSide = TreeSide, Destination extends TreeSide = TreeSide> {
  readonly context: JobContext;
  readonly request: SyncRequest;
  readonly isSync: boolean;
  /** The run does a part of the work; absent: all of it. */
  readonly part: TreePart | undefined;
  readonly clock: Clock;
  readonly source: Source;
  readonly destination: Destination;
  readonly filter: TreeFilter;
  /** The filter without its bounds of size and age. */
  readonly names: TreeFilter;
  readonly tasks: TaskSet;
  /** Bytes of content in flight. */
  readonly memory: LeasedMemory;
  readonly knowledge: TreeKnowledge;
  readonly confirmation: TreeConfirmation;
  readonly counts: TreeCounts;
  /** Modes and times that the destination's disk, if it is here, did not take. */
  readonly refusals: DiskRefusals | undefined;
  readonly progress: TreeProgress;
  /** Errors found by a dry run that would stop the real run. */
  readonly stops: ErrorCode[];
  /** Identifies the command: equal when the same command runs again. */
  readonly runNote: string;
  /** Of the source: what is outside of them was not deleted there. Known when the walk has ended. */
  readonly parts: HeldParts;
  /**
   * Files of the destination with this time or later may lack their content: an interrupted run wrote there.
   * File system's clock.
   */
  readonly inDoubtSinceMs: number | undefined;
  readonly guard: TreeGuard;
  /** Only in a dry run. */
  readonly forecast: Forecast | undefined;
}

export interface TreeCounts {
  files: number;
  bytes: number;
  copiedFiles: number;
  copiedBytes: number;
  copiedInStore: number;
  touchedFiles: number;
  touchedFolders: number;
  deletedFiles: number;
  unchangedFiles: number;
  skippedFiles: number;
  failed: number;
  sentBytes: number;
  receivedBytes: number;
  /** Files of the destination that were listed. */
  destinationFiles: number;
  decidedByIndex: number;
  decidedByHash: number;
  decidedByHead: number;
  /** Objects whose time was requested, for a filter by age. */
  timesAsked: number;
  timesRemembered: number;
  /** Of the source. */
  readonly notKept: Record<NotKept, number>;
}

export function createTreeCounts(): TreeCounts {
  return {
    files: 0,
    bytes: 0,
    copiedFiles: 0,
    copiedBytes: 0,
    copiedInStore: 0,
    touchedFiles: 0,
    touchedFolders: 0,
    deletedFiles: 0,
    unchangedFiles: 0,
    skippedFiles: 0,
    failed: 0,
    sentBytes: 0,
    receivedBytes: 0,
    destinationFiles: 0,
    decidedByIndex: 0,
    decidedByHash: 0,
    decidedByHead: 0,
    timesAsked: 0,
    timesRemembered: 0,
    notKept: { hardLink: 0, holes: 0, emptyFolder: 0 },
  };
}

/** Errors that fail one file. Every other error would fail the next file as well. */
const FILE_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'accessDenied',
  'checksumRefused',
  'conflict',
  'damaged',
  'io',
  'notFound',
  'remoteFailed',
  'unsafePath',
  'unsupported',
]);

/** Refusals that concern the caller, not one file. */
const REFUSES_ALL: ReadonlySet<unknown> = new Set(['credentials', IN_REPOSITORY, 'openFiles', 'readOnly']);

/** Whether other files may still succeed after this error. */
export function isFileError({ code, data }: DrayError): boolean {
  return FILE_ERRORS.has(code) && !REFUSES_ALL.has(data.reason);
}

/**
 * Ends the run with the error. A dry run emits a warning instead and continues, to show all that would be
 * done.
 */
export function stopRun(
  {
    context,
    request,
    stops,
  }: Pick<TreeRun, 'context' | 'stops'> & { readonly request: Pick<CopyRequest, 'dryRun'> },
  warning: string,
  error: DrayError,
): void {
  if (!request.dryRun) throw error;
  stops.push(error.code);
  const { message } = error;
  const { path } = error.data;
  context.emit({ type: 'warning', warning, message, ...(typeof path === 'string' ? { path } : {}) });
}

/** Reports a file that failed; throws when the error concerns more than the file. */
export function failItem(run: Pick<TreeRun, 'context' | 'counts'>, path: string, error: unknown): void {
  const known = toDrayError(error);
  if (!isFileError(known)) throw known;
  reportFailure(run, path, known);
}

export function reportFailure(
  { context, counts }: Pick<TreeRun, 'context' | 'counts'>,
  path: string,
  error: DrayError,
): void {
  counts.failed += 1;
  const record = toErrorRecord(error);
  const message = record.message.includes(path) ? record.message : `${path}: ${record.message}`;
  context.emit({ type: 'fileFailed', path, error: { ...record, message, data: { ...record.data, path } } });
}

export function reportChange(
  { context }: Pick<TreeRun, 'context'>,
  change: ChangeKind,
  item: TreeItem,
): void {
  context.emit({
    type: 'change',
    change,
    path: item.path,
    kind: item.special?.kind ?? 'file',
    sizeBytes: item.sizeBytes,
  });
}
