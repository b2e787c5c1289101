/** Which part of the dataset a workspace holds: requests and summaries of `dray scope`. */
import type { RequestTotals } from './jobs.ts';
import type { OutsideFiles } from './workspace-scope.ts';

/** Of `dray scope`. */
export type ScopeRequest =
  | { readonly action: 'list' | 'clear' }
  /** `only`: the workspace holds what these patterns name, and nothing else. */
  | { readonly action: 'add' | 'drop' | 'only'; readonly patterns: readonly string[] };

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
