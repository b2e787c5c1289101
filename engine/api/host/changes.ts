/** The requests of the screens Changes and Plan: what a push or a pull would do. */

import type { ChangeKind, QueryExplanation } from '../events.ts';
import type { ChangeTotals, ConflictSide, KeptTotals, RequestTotals, StatusSummary } from '../jobs/jobs.ts';
import type { ScopePlan, ScopePlanRequest } from '../jobs/scope.ts';
import type { IgnoreAdded } from '../text/ignore-line.ts';
import type { FilePreview } from './file-preview.ts';
import type { InWorkspace, Nothing } from './in-workspace.ts';

export interface ChangesRequests {
  'changes.status': { input: InWorkspace & { readonly remote?: boolean }; answer: StatusSummary };
  /**
   * Scans (push) or asks the remote (pull) and keeps the list, whose rows `changes.rows` returns. A new list
   * replaces the old ones.
   */
  'changes.open': {
    input: InWorkspace & {
      readonly direction: 'push' | 'pull';
      /** The list that the window shows until it has the new one. It is kept until the next request. */
      readonly using?: string;
    };
    answer: ChangeList & { readonly kept: KeptChanges };
  };
  'changes.rows': {
    input: InWorkspace & {
      readonly list: string;
      readonly offset: number;
      /** At most 500. */
      readonly limit: number;
      readonly view: ChangeView;
    };
    /** `total`: rows of this view. */
    answer: { readonly total: number; readonly rows: readonly ChangeRow[] };
  };
  /** Finds a row by its path. `row` is absent if the list lacks it; `index`, if the view hides it. */
  'changes.seek': {
    input: InWorkspace & { readonly list: string; readonly view: ChangeView; readonly path: string };
    answer: { readonly index?: number; readonly row?: ChangeRow };
  };
  /** One page of the choices as they are now. @param offset Default 0; else `next` of the page before. */
  'changes.choices': {
    input: InWorkspace & { readonly direction: 'push' | 'pull'; readonly offset?: number };
    answer: KeptChoices;
  };
  /** Changes choices for rows of the list. Answers the new version: one more than before. */
  'changes.choose': {
    input: InWorkspace & {
      readonly direction: 'push' | 'pull';
      readonly list: string;
      /** Excludes these rows, or includes them again. A folder's path ends in a slash. */
      readonly skip?: readonly string[];
      readonly include?: readonly string[];
      readonly decide?: readonly (readonly [path: string, winner: Winner])[];
      /** Replaces the decisions for single paths. */
      readonly forAll?: Winner;
    };
    answer: { readonly version: number };
  };
  /**
   * Keeps the message, the filter, order and open folders of the list, or that the person has seen the list's
   * deletions.
   */
  'changes.keep': {
    input: InWorkspace & {
      readonly direction: 'push' | 'pull';
      readonly message?: string;
      readonly look?: KeptLook;
      /** `deletions` of the list; null: not seen. */
      readonly seen?: number | null;
    };
    answer: Nothing;
  };
  /**
   * Starts the push or the pull with the choices kept. Fails with `conflict` if they are no longer those of
   * `version`.
   */
  'changes.send': {
    input: InWorkspace & {
      readonly direction: 'push' | 'pull';
      readonly version: number;
      readonly message?: string;
      /** For a pull: the commit that the list named. */
      readonly commit?: string;
    };
    answer: { readonly id: string };
  };
  /** Sends `folder` and `choices` events until it is stopped; never answers. */
  'changes.watch': { input: InWorkspace; answer: Nothing };
  /** Scans, and says whether a list of a push would still be the same. */
  'changes.look': {
    input: InWorkspace & { readonly list: string };
    answer: {
      readonly list: string;
      readonly isSame: boolean;
      readonly lookedMs: number;
      /** Changes that a list made now would have, and their kinds. */
      readonly rows: number;
      readonly totals: ChangeTotals;
    };
  };
  /** Adds the line of `ignoreLineOf` to the workspace's `.drayignore`. A folder's path ends in a slash. */
  'changes.ignore': { input: InWorkspace & { readonly path: string }; answer: IgnoreAdded };
  /** `isDone`: false if the line was gone already. */
  'changes.unignore': { input: InWorkspace & IgnoreAdded; answer: { readonly isDone: boolean } };
  /**
   * Takes local changes back, for good only after 30 days: new files go to the bin, renamed ones get their
   * old names, and a restore, which keeps what it overwrites, is queued for paths that the base has. Putting
   * back `kept` makes the renames again.
   */
  'changes.discard': {
    input: InWorkspace & { readonly paths: readonly string[] };
    answer: {
      readonly kept?: KeptTotals;
      /** Files that have their old names again. */
      readonly renamed: number;
      readonly failed: number;
      /** The id of the restore. */
      readonly transfer?: string;
    };
  };
  'changes.close': { input: InWorkspace & { readonly list: string }; answer: Nothing };
  /** Both sides of one change. */
  'changes.preview': {
    input: InWorkspace & {
      readonly path: string;
      readonly fromPath?: string;
      /**
       * `push` (default) compares the base commit with the local file; `pull` compares the local file with
       * the branch.
       */
      readonly direction?: 'push' | 'pull';
      /** For a pull: the commit that the list named, instead of the branch's newest. */
      readonly commit?: string;
    };
    answer: { readonly before?: FilePreview; readonly after?: FilePreview };
  };
}

export interface PlanRequests {
  'plan.push': {
    input: InWorkspace;
    answer: {
      readonly query: QueryExplanation;
      /**
       * The requests that the push will need, as far as they can be foreseen; zeros when it has nothing to
       * do.
       */
      readonly requests: RequestTotals;
      /** False if the store's prices are not known: all dollars are zero then. */
      readonly isPriced: boolean;
      readonly changes: ChangeTotals;
      readonly objects: number;
      /** Changes that the choices of the Changes screen leave out of the push, and of this plan. */
      readonly excluded: number;
    };
  };
  'plan.scope': { input: InWorkspace & ScopePlanRequest; answer: ScopePlan };
}

/** Paths that one workspace's choices may name, and one order: a rename names two. */
export const CHOICE_PATHS_MAX = 100_000;

/** The state of the Changes screen that the engine keeps for a workspace. */
export interface KeptChanges {
  readonly message: string;
  readonly look?: KeptLook;
  /** The deletions that the person has seen, as `ChangeList.deletions` numbers them. */
  readonly seen?: number;
  readonly choices: KeptChoices;
}

/** Which side of a conflict stays. */
export type Winner = ConflictSide;

/** In a form for JSON. No object has a path as its key: a file may be called `__proto__`. */
export interface ChoicesRecord {
  readonly skipped: readonly (Skipped & { readonly path: string })[];
  readonly decided: readonly (readonly [path: string, winner: Winner])[];
  readonly forAll?: Winner;
}

export interface Skipped {
  /** The row's change when it was excluded. */
  readonly change: ChangeRow['change'];
  readonly rows: number;
  readonly deleted: number;
  /** Bytes of added or modified files. */
  readonly bytes: number;
  /** Set for a rename. */
  readonly fromPath?: string;
}

/** A page of the choices. Pages of one version belong together. */
export interface KeptChoices extends ChoicesRecord {
  readonly version: number;
  /** Where the next page begins; absent in the last one. */
  readonly next?: number;
}

export interface KeptLook {
  readonly filter: string;
  readonly kinds: readonly ChangeRow['change'][];
  readonly sort: 'path' | 'size';
  readonly isTree: boolean;
  /** Open folders, the newest last. */
  readonly open: readonly string[];
}

export interface ChangeList {
  readonly list: string;
  readonly direction: 'push' | 'pull';
  readonly totals: ChangeTotals;
  readonly conflicts: number;
  readonly failed: number;
  /** Equal for lists that delete the same files. */
  readonly deletions: number;
  /** When the folder was scanned. */
  readonly lookedMs: number;
  /** For a pull: the commit that it would move to. */
  readonly commit?: string;
}

/** Something in the folder has changed, or its watch has begun or ended. */
export interface FolderEvent {
  readonly type: 'folder';
  readonly root: string;
  /**
   * Why the folder is not watched: the watch is being set up, it has too many folders, the system gives no
   * more watches, or it cannot be watched.
   */
  readonly unwatched?: 'starting' | 'tooMany' | 'limit' | 'failed';
  /** The time from which no change is missed; absent until then. */
  readonly watchedMs?: number;
  /** Grows with each change. */
  readonly changes: number;
}

/** The choices have this version now: a window, a new list or a transfer has changed them. */
export interface ChoicesEvent {
  readonly type: 'choices';
  readonly root: string;
  readonly version: number;
}

export interface ChangeView {
  readonly filter?: string;
  readonly kinds?: readonly ChangeRow['change'][];
  readonly sort?: 'path' | 'size';
  /**
   * For the tree view: returns the rows of each folder named here ('' is the top, others end in a slash),
   * with each subfolder as one row. Absent: a flat list.
   */
  readonly open?: readonly string[];
}

export interface ChangeRow {
  readonly change: ChangeKind | 'conflict';
  readonly path: string;
  readonly fromPath?: string;
  readonly kind: 'file' | 'link' | 'folder';
  readonly sizeBytes: number;
  /** The size of the replaced file. */
  readonly oldSizeBytes?: number;
  /**
   * A folder of the tree view. Its path ends in a slash, its size is the sum, and its change is the one that
   * all items below share, or `modified`.
   */
  readonly below?: {
    readonly rows: number;
    readonly deleted: number;
    /** Bytes added or modified. */
    readonly bytes: number;
    /** Nothing of the folder stays: every file of it is deleted. */
    readonly isGone?: true;
  };
}
