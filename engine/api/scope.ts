/** Which part of the dataset a workspace holds: requests and summaries of `dray scope`. */
import type { RequestTotals } from './jobs.ts';

/** Of `dray scope`. */
export type ScopeRequest =
  | { readonly action: 'list' | 'clear' }
  /** `only`: the workspace holds what these patterns name, and nothing else. */
  | { readonly action: 'add' | 'drop' | 'only'; readonly patterns: readonly string[] };

/** Files and links here that are outside of the workspace's scope: a push leaves them out. */
export interface OutsideFiles {
  readonly count: number;
  /** The first 20. */
  readonly paths: readonly string[];
}

/** Of a workspace that holds a part of the dataset. */
export interface WorkspaceScope {
  /** Its patterns. */
  readonly only: readonly string[];
  readonly outside: OutsideFiles;
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
