/** The requests and the summary of `merge` and `revert`. */
import type { ChangeTotals, ConflictSide, KeptTotals, MadeCopy, RequestTotals } from './jobs.ts';

/** What to merge into the workspace, and what becomes of conflicts. */
export interface MergeRequest {
  /** A branch, a tag or a commit. Absent with `abort`. */
  readonly ref?: string;
  /** Take back what the merge that is not pushed yet has changed. */
  readonly abort?: boolean;
  /** Only find out what would change. */
  readonly dryRun?: boolean;
  /** Default `stop`: fail before anything is written. */
  readonly conflicts?: 'stop' | ConflictSide;
  /** Conflicting paths with a decision other than `conflicts`. */
  readonly decisions?: Readonly<Record<string, ConflictSide>>;
}
/** Which commit to take back, and what becomes of conflicts. */
export interface RevertRequest extends MergeRequest {
  /** Of a merge: take back what came with it to this parent. Counts from 1. */
  readonly parent?: number;
}
/** What a merge or a revert did, or in a dry run would do. */
export interface MergeSummary {
  /** `upToDate`: the branch has that commit already. */
  readonly result: 'merged' | 'reverted' | 'upToDate' | 'wouldMerge' | 'wouldRevert' | 'aborted';
  readonly workspace: string;
  readonly branch: string;
  /** The commit that the workspace is based on, which stays. */
  readonly commit: string;
  /** As it was typed. */
  readonly ref: string;
  /** The commit that is merged, or taken back. */
  readonly other: string;
  readonly changes: ChangeTotals;
  readonly downloadedBytes: number;
  /** Paths that `--ours`, `--theirs` or `--both` decided. */
  readonly decided: number;
  /** Of an abort: paths that changed here since, and stay as they are. */
  readonly stayed?: number;
  readonly kept?: KeptTotals;
  /** By `--both`: the first 100. */
  readonly copies?: readonly MadeCopy[];
  readonly failed: number;
  readonly requests: RequestTotals;
}
