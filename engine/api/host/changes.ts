/** The requests of the screens Changes and Plan: what a push or a pull would do. */
import type { ChangeKind, QueryExplanation } from '../events.ts';
import type { ChangeTotals, RequestTotals, StatusSummary } from '../jobs.ts';
import type { FilePreview } from './file-preview.ts';
import type { InWorkspace, Nothing } from './in-workspace.ts';

export interface ChangesRequests {
  'changes.status': { input: InWorkspace & { readonly remote?: boolean }; answer: StatusSummary };
  /**
   * Scans (push) or asks the remote (pull) and keeps the list, whose rows `changes.rows` returns. A new list
   * replaces the old one.
   */
  'changes.open': {
    input: InWorkspace & { readonly direction: 'push' | 'pull' };
    answer: ChangeList;
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
  /** The rows of the list at these paths. A path that ends in a slash is a folder of the tree view. */
  'changes.find': {
    input: InWorkspace & { readonly list: string; readonly paths: readonly string[] };
    answer: { readonly rows: readonly ChangeRow[] };
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
      readonly changes: ChangeTotals;
      readonly objects: number;
    };
  };
}

export interface ChangeList {
  readonly list: string;
  readonly direction: 'push' | 'pull';
  readonly totals: ChangeTotals;
  readonly conflicts: number;
  readonly failed: number;
  /** For a pull: the commit that it would move to. */
  readonly commit?: string;
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
  };
}
