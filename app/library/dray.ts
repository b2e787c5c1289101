/**
 * Dray as a library: versions of repositories without a checkout, workspaces, and copies.
 *
 * Every failure is a `DrayError`, whose `code` says what happened.
 *
 * @packageDocumentation
 */
import { DrayError, type ErrorCode } from '../../engine/api/error.ts';
import type { JobEvent } from '../../engine/api/events.ts';
import type { ConnectionFlags, RequestTotals } from '../../engine/api/jobs/jobs.ts';
import type { CopyRequest, PlaceRequest, TransferSummary } from '../../engine/api/jobs/trees.ts';
import type {
  CommitBuilder,
  CommitOutcome,
  CommitRecordOptions,
  Content,
  FileOptions,
} from './commit-builder.ts';
import { copy, type TreeCopyOptions } from './copy.ts';
import type { DrayOptions } from './library-context.ts';
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
  type CommitBuilder,
  type CommitInfo,
  type CommitOutcome,
  type CommitRecordOptions,
  type ConnectionFlags,
  type Content,
  type CopyRequest,
  copy,
  DrayError,
  type DrayOptions,
  type ErrorCode,
  type FileChange,
  type FileOptions,
  type JobEvent,
  type ListOptions,
  openRepository,
  openWorkspace,
  type PlaceRequest,
  type RangeOptions,
  type Ref,
  type Repository,
  type RequestTotals,
  type TransferSummary,
  type TreeCopyOptions,
  type VersionEntry,
  type Workspace,
};
