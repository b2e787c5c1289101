/** The requests about files that jobs overwrote and kept. Isomorphic and JSON-safe, like `jobs.ts`. */
import type { KeptTotals } from './jobs.ts';

export interface KeptRun {
  readonly id: string;
  readonly time: string;
  /** The command that overwrote the files, after `dray`. */
  readonly command: string;
  readonly files: number;
  readonly bytes: number;
  /** The first 1,000. */
  readonly paths: readonly string[];
}

export interface KeptFilesSummary {
  /** Newest first. */
  readonly runs: readonly KeptRun[];
  readonly files: number;
  readonly bytes: number;
  /** How long files are kept. */
  readonly days: number;
}

export interface PutBackSummary {
  readonly restored: number;
  readonly failed: number;
  /** The files that were at these paths before. */
  readonly kept?: KeptTotals;
}
