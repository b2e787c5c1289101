/** What `dray ls` lists of a commit. */

export interface ListTreeRequest {
  readonly ref?: string;
  readonly path?: string;
  readonly recursive?: boolean;
}
export interface ListTreeSummary {
  readonly commit: string;
  readonly entries: number;
  readonly bytes: number;
}
