/** Which part of the dataset a workspace holds: requests and summaries of `dray scope`. */
import type { RequestTotals } from './jobs.ts';
import type { OutsideFiles } from './workspace-scope.ts';

/** Of `dray scope`. */
export type ScopeRequest =
  | { readonly action: 'list' | 'clear' }
  /** `only`: the workspace holds what these patterns name, and nothing else. */
  | { readonly action: 'add' | 'drop' | 'only'; readonly patterns: readonly string[] };

/** What a change of scope would do. */
export interface ScopePlanRequest {
  /** What the workspace would hold. Null: everything. */
  readonly only: readonly string[] | null;
}
export interface ScopePlan {
  readonly only: readonly string[] | null;
  /** Files that are not here with their size. */
  readonly fetched: number;
  readonly downloadedBytes: number;
  readonly removed: number;
  readonly freedBytes: number;
  /** What leaves and was not pushed, or has changed since: it stays here, and no push sends it. */
  readonly unpushed: OutsideFiles;
  /** What is to be fetched and finds something else here, as far as names and sizes tell. */
  readonly inTheWay: OutsideFiles;
  /** New patterns that name nothing in the commit. */
  readonly unmatched: readonly string[];
  readonly requests: RequestTotals;
}

export interface ScopeSummary {
  readonly workspace: string;
  /** Null: the workspace holds everything. */
  readonly only: readonly string[] | null;
  readonly fetched: number;
  readonly downloadedBytes: number;
  /** Files that left the workspace. They were pushed and unchanged. */
  readonly removed: number;
  readonly freedBytes: number;
  readonly outside: OutsideFiles;
  readonly failed: number;
  readonly requests: RequestTotals;
}
