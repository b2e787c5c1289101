/** What a workspace is in the middle of. */

/** The version that a detached workspace shows: another one than that of its branch. */
export interface DetachedAt {
  /** As it was typed. */
  readonly ref: string;
  readonly commit: string;
}
/** A commit of which a pull, clone or switch has brought a part. */
export interface ArrivingCommit {
  /** Its hash. */
  readonly commit: string;
  /** Files, links and folders that this run could not write or remove. */
  readonly missing: number;
  /** It brings the rest. */
  readonly command: string;
}

/** A merge or a revert that is in the workspace and not pushed yet. */
export interface PendingMerge {
  readonly kind: 'merge' | 'revert';
  /** The commit that is merged, or taken back. */
  readonly commit: string;
  /** As it was typed. */
  readonly ref: string;
  /** Of the revert of a merge: the parent that is kept. Counts from 1. */
  readonly parent?: number;
  /** Not all files were written: the same command goes on. */
  readonly isUnfinished?: true;
}
