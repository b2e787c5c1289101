/** The requests of the screen History: commits, refs, and what a commit holds. */
import type { CommitEvent } from '../events.ts';
import type { ChangeTotals, RestorePlan } from '../jobs/jobs.ts';
import type { ChangeRow } from './changes.ts';
import type { FilePreview } from './file-preview.ts';
import type { InWorkspace } from './in-workspace.ts';

export interface HistoryRequests {
  'history.list': {
    input: InWorkspace & { readonly branch?: string; readonly limit: number };
    answer: { readonly commits: readonly CommitEvent[]; readonly refs: readonly RefRow[] };
  };
  'history.compare': {
    /** Without `from`, all of `to` counts as added. */
    input: InWorkspace & { readonly from?: string; readonly to: string; readonly limit: number };
    answer: { readonly changes: ChangeTotals; readonly rows: readonly ChangeRow[]; readonly isCut: boolean };
  };
  /** The changes between two commits, summed for each folder of one level. */
  'history.folders': {
    /** `folder`: '' or a path that ends in a slash. Without `from`, all of `to` counts as added. */
    input: InWorkspace & { readonly from?: string; readonly to: string; readonly folder: string };
    answer: {
      readonly folders: readonly FolderChanges[];
      /** The changes that lie in the folder itself. */
      readonly rows: readonly ChangeRow[];
      /** There are more folders or rows. */
      readonly isCut: boolean;
    };
  };
  /** Predicts the writes of a restore of these paths (`.`: all) and the local changes that it replaces. */
  'history.planRestore': {
    input: InWorkspace & { readonly commit: string; readonly paths: readonly string[] };
    answer: RestorePlan;
  };
  /** Creates a branch or a tag at this commit or, with `at`, moves it there. */
  'history.placeRef': {
    /** `at`: the commit that the ref must have now. Absent: the ref must not exist. */
    input: InWorkspace & RefName & { readonly commit: string; readonly at?: string };
    answer: ChangedRef;
  };
  'history.renameRef': {
    input: InWorkspace & RefName & { readonly to: string; readonly at: string };
    answer: ChangedRef;
  };
  'history.removeRef': { input: InWorkspace & RefName & { readonly at: string }; answer: ChangedRef };
  /** The commits that no ref reaches once this one is removed or, with `to`, moved. */
  'history.soleCommits': {
    input: InWorkspace & RefName & { readonly to?: string };
    /** `isMore`: the count ended at a bound, so there may be more. */
    answer: { readonly commits: number; readonly isMore: boolean };
  };
  /** A dry run of a switch to the branch. */
  'history.planSwitch': { input: InWorkspace & { readonly branch: string }; answer: SwitchPlan };
  /** A dry run of a merge of the branch, tag or commit into the workspace, or of a revert of the commit. */
  'history.planMerge': {
    input: InWorkspace & {
      readonly ref: string;
      readonly kind: 'merge' | 'revert';
      /** Of the revert of a merge: the parent that is kept. Counts from 1. */
      readonly parent?: number;
    };
    answer: MergePlanned;
  };

  /**
   * The commits that changed a file or folder, newest first, as `commit` events, with `walk` events between
   * them; then the answer.
   */
  'history.ofPath': {
    input: InWorkspace & {
      readonly path: string;
      /** The ref to start from. Default: the current branch. */
      readonly from?: string;
      /** Continues after an earlier request that did not come to the end: its `next`. */
      readonly after?: readonly string[];
      readonly limit: number;
    };
    /** `next` is set if there are older commits. */
    answer: { readonly commits: number; readonly walked: number; readonly next?: readonly string[] };
  };
  'history.preview': {
    input: InWorkspace & { readonly commit: string; readonly path: string };
    answer: FilePreview;
  };
  /** A range of a file of a commit, as `browse.bytes`. */
  'history.bytes': {
    input: InWorkspace & {
      /** A whole hash. */
      readonly commit: string;
      readonly path: string;
      readonly start: number;
      readonly limit: number;
    };
    answer: { readonly base64: string };
  };
}

/** What changed below one folder. A renamed file counts where it is now. */
export interface FolderChanges {
  /** Relative, with a slash at its end. */
  readonly name: string;
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  readonly renamed: number;
  /** Changes of modes and times. */
  readonly other: number;
  /** The size of added and modified files. */
  readonly bytes: number;
}

/** How far a reading of `history.ofPath` has come. */
export interface WalkEvent {
  readonly type: 'walk';
  /** Commits read by this request. */
  readonly walked: number;
  /** RFC 3339: the time of the commit that is read now. */
  readonly time: string;
  /** Where to continue if the request is stopped now. Absent while it is a long list. */
  readonly next?: readonly string[];
}

export type RefKindName = 'branch' | 'tag';

interface RefName {
  readonly kind: RefKindName;
  readonly name: string;
}

/** The commit of the changed or removed ref. Absent if nothing changed. */
interface ChangedRef {
  readonly commit?: string;
}

export interface SwitchPlan {
  /** The local changes of the switch. Absent if it would fail. */
  readonly changes?: ChangeTotals;
  /** The number of paths that changed here and differ on the branch, which make the switch fail. */
  readonly conflicts: number;
  /** The first of these paths. */
  readonly conflictPaths: readonly string[];
}

export interface MergePlanned extends SwitchPlan {
  /** The branch has that commit already. */
  readonly isMerged?: true;
}

export interface RefRow {
  readonly name: string;
  readonly kind: RefKindName;
  readonly commit: string;
  readonly isCurrent: boolean;
}
