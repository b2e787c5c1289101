/** Requests and summaries of imports. Isomorphic and JSON-safe, like `jobs.ts`. */
import type { RequestTotals } from './jobs.ts';

/** `dray import dvc`. Without `rev`, `allTags` and `allCommits`: the state that is checked out. */
export interface ImportDvcRequest {
  /** The folder of the project, with a `.dvc` folder. Relative paths start at the context's folder. */
  readonly project: string;
  /** The URL of the repository, made if there is none. */
  readonly to: string;
  /** Read all content from this remote of the project's, or from a folder or URL such as a DVC cache. */
  readonly remote?: string;
  /** A revision of git: its state alone, as one commit. */
  readonly rev?: string;
  /** All tagged states. */
  readonly allTags?: boolean;
  /** All states of all branches and tags. */
  readonly allCommits?: boolean;
  /** Leave out files whose content is missing or damaged. Default: publish nothing then. */
  readonly skipMissing?: boolean;
}

/** `dray import folder-versions`. */
export interface ImportVersionsRequest {
  /** The URL of a bucket that keeps versions, or of a part of it. */
  readonly source: string;
  /** The URL of the repository, made if there is none. */
  readonly to: string;
  /** A commit stands for the changes of so many milliseconds. Default: a day. */
  readonly everyMs?: number;
  /** Default: `main`. */
  readonly branch?: string;
  /** Leave out files whose content is missing or damaged. Default: publish nothing then. */
  readonly skipMissing?: boolean;
}

export interface ImportSummary {
  /** `refused`: content is missing or damaged, and nothing was published. */
  readonly result: 'imported' | 'upToDate' | 'refused';
  /** States that were read. */
  readonly states: number;
  /** Commits that were written. */
  readonly commits: number;
  /** Branches and tags that were made or moved. */
  readonly refs: number;
  /** Contents that were read, and their size. */
  readonly readFiles: number;
  readonly readBytes: number;
  readonly uploadedObjects: number;
  readonly uploadedBytes: number;
  /**
   * Files whose content is missing or damaged, or that cannot be imported, each counted once. There may be
   * more if an earlier import left files out and did not name all.
   */
  readonly failed: number;
  /** Requests to both sides. */
  readonly requests: RequestTotals;
}
