/** The contract of `dray diff`. */
import type { ChangeTotals } from './jobs.ts';

export interface DiffRequest {
  /**
   * Refs or commits. Both absent: the base commit against the workspace; one: that commit against the
   * workspace.
   */
  readonly from?: string;
  readonly to?: string;
}
export interface DiffSummary {
  readonly from: string;
  readonly to: string;
  readonly changes: ChangeTotals;
}
