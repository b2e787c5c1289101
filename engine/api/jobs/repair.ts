/** The contract of `repair`. Isomorphic and JSON-safe. */
import type { RequestTotals, VerifyRequest } from './jobs.ts';

export interface RepairRequest extends Pick<VerifyRequest, 'readDataPercent' | 'sample'> {
  /** Only makes this branch again, at `commit`. */
  readonly branch?: string;
  readonly commit?: string;
  /** Only ends history at this commit, whose record is lost: a hash, or how it begins. */
  readonly endHistory?: string;
  readonly dryRun?: boolean;
}
export interface RepairSummary {
  readonly result: 'repaired' | 'nothingToRepair' | 'notRepaired' | 'wouldRepair' | 'ended' | 'wouldEnd';
  /** Refs, commits, segments, objects and packs that were missing or damaged. */
  readonly found: number;
  /** The part of these that is still missing or damaged for some commit. */
  readonly left: number;
  /** The same for the newest commit of the workspace's branch. */
  readonly leftInBranch: number;
  /** Paths (of all commits) that cannot be had whole. */
  readonly affectedPaths: number;
  readonly uploadedObjects: number;
  readonly uploadedBytes: number;
  /**
   * The branch that was made again or got a commit with new places, and its commit. Of `ended` and
   * `wouldEnd`: the lost commit, without a branch.
   */
  readonly branch?: string;
  readonly commit?: string;
  /** Branches and tags that are gone or cannot be read: they come first. */
  readonly lostRefs: number;
  /** The old commits that still cannot be read: history can end there. */
  readonly lostCommits?: readonly string[];
  /** Commits that no branch, tag or other commit names. */
  readonly unnamed: number;
  readonly requests: RequestTotals;
}
