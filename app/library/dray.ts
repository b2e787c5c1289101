/**
 * Dray as a library: versions of repositories without a checkout, workspaces, and copies.
 *
 * Every failure is a `DrayError`, whose `code` says what happened. Sizes and offsets are in bytes, and names
 * that end in `Ms` are in milliseconds.
 *
 * @packageDocumentation
 */
import {
  DrayError,
  type DrayErrorOptions,
  type ErrorCode,
  type ErrorRecord,
  type RetryAdvice,
} from '../../engine/api/error.ts';
import type {
  ChangeEvent,
  ChangeKind,
  ConflictEvent,
  FileFailedEvent,
  FileUnderWay,
  LookupEvent,
  LookupExplanation,
  Phase,
  PhaseEvent,
  PlanEvent,
  ProgressEvent,
  QueryCost,
  QueryExplanation,
  QueryMode,
  RemoteUsedEvent,
  WarningEvent,
} from '../../engine/api/events.ts';
import type {
  ChangeTotals,
  ConflictSide,
  ConnectionFlags,
  KeptTotals,
  MadeCopy,
  PullRequest,
  PullSummary,
  PushRequest,
  PushSummary,
  RequestTotals,
  StatusRequest,
  StatusSummary,
} from '../../engine/api/jobs/jobs.ts';
import type { MergeRequest, MergeSummary, RevertRequest } from '../../engine/api/jobs/merge.ts';
import type { ArrivingCommit, DetachedAt, PendingMerge } from '../../engine/api/jobs/pending-merge.ts';
import type {
  CompareMode,
  CopyRequest,
  FilterRule,
  NotKeptTotals,
  PlaceRequest,
  TransferSummary,
  TreeFilterRequest,
  TreePairRequest,
} from '../../engine/api/jobs/trees.ts';
import type { OutsideFiles, WorkspaceScope } from '../../engine/api/jobs/workspace-scope.ts';
import type { CommitBuilder, CommitOutcome, CommitRecordOptions } from './commit-builder.ts';
import { copy, type TreeCopyOptions } from './copy.ts';
import type { Content, ContentOpener, ContentPieces, FileOptions } from './given-file.ts';
import type { DrayEvent, DrayOptions, StopOptions } from './library-context.ts';
import {
  type CommitInfo,
  type FileChange,
  type ListOptions,
  openRepository,
  type RangeOptions,
  type Ref,
  type Repository,
  type VersionEntry,
} from './repository.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

export {
  type ArrivingCommit,
  type ChangeEvent,
  type ChangeKind,
  type ChangeTotals,
  type CommitBuilder,
  type CommitInfo,
  type CommitOutcome,
  type CommitRecordOptions,
  type CompareMode,
  type ConflictEvent,
  type ConflictSide,
  type ConnectionFlags,
  type Content,
  type ContentOpener,
  type ContentPieces,
  type CopyRequest,
  copy,
  type DetachedAt,
  DrayError,
  type DrayErrorOptions,
  type DrayEvent,
  type DrayOptions,
  type ErrorCode,
  type ErrorRecord,
  type FileChange,
  type FileFailedEvent,
  type FileOptions,
  type FileUnderWay,
  type FilterRule,
  type KeptTotals,
  type ListOptions,
  type LookupEvent,
  type LookupExplanation,
  type MadeCopy,
  type MergeRequest,
  type MergeSummary,
  type NotKeptTotals,
  type OutsideFiles,
  openRepository,
  openWorkspace,
  type PendingMerge,
  type Phase,
  type PhaseEvent,
  type PlaceRequest,
  type PlanEvent,
  type ProgressEvent,
  type PullRequest,
  type PullSummary,
  type PushRequest,
  type PushSummary,
  type QueryCost,
  type QueryExplanation,
  type QueryMode,
  type RangeOptions,
  type Ref,
  type RemoteUsedEvent,
  type Repository,
  type RequestTotals,
  type RetryAdvice,
  type RevertRequest,
  type StatusRequest,
  type StatusSummary,
  type StopOptions,
  type TransferSummary,
  type TreeCopyOptions,
  type TreeFilterRequest,
  type TreePairRequest,
  type VersionEntry,
  type WarningEvent,
  type Workspace,
  type WorkspaceScope,
};
