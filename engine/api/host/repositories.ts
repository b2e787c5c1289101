/** The requests for the overview of all repositories that this user knows. */
import type { ErrorRecord } from '../error.ts';
import type { RetentionEvent } from '../events.ts';
import type { RetentionPolicy } from '../jobs/jobs.ts';
import type { RepairSummary } from '../jobs/repair.ts';
import type { UpgradeSummary } from '../jobs/repositories.ts';
import type { InWorkspace, Nothing } from './in-workspace.ts';

export interface RepositoriesRequests {
  /** The saved record of each. Takes no request. */
  'repositories.list': { input: Nothing; answer: RepositoryList };
  /**
   * Reads the branch and the newest commit of each remote, or of those with these ids, and at most `commits`
   * older commits that were not read before. Emits a `repository` event for each answer.
   */
  'repositories.look': {
    input: { readonly ids?: readonly string[]; readonly commits?: number };
    answer: RepositoryList;
  };
  /** Lists all objects of one repository: one request for each 1,000. Emits `progress` events. */
  'repositories.measure': { input: { readonly id: string }; answer: RepositoryCard };
  /**
   * A dry run of a collection, of a repository that a workspace uses: reads all commits, and lists the store.
   * Emits `progress` events.
   */
  'repositories.garbage': { input: { readonly id: string }; answer: RepositoryCard };
  /** The policy that is kept with the repository, if there is one. */
  'repositories.policy': { input: InWorkspace; answer: { readonly policy?: RetentionPolicy } };
  /** What an upgrade would write: `refs` branches and tags, beside the descriptor. Changes nothing. */
  'repositories.planUpgrade': { input: InWorkspace; answer: UpgradeSummary };
  /** Lets an older repository forget commits and collect garbage. */
  'repositories.upgrade': { input: InWorkspace; answer: UpgradeSummary };
  /** A dry run of a repair. It reads as a verification does. Emits `progress` and failed `check` events. */
  'repositories.planRepair': { input: InWorkspace; answer: RepairSummary };
  /** Which commits this policy would keep and forget, and which tags would be removed. Changes nothing. */
  'repositories.planForget': {
    input: InWorkspace & {
      readonly policy: RetentionPolicy;
      readonly tags?: readonly string[];
      readonly limit: number;
    };
    answer: ForgetCounts & { readonly commits: readonly RetentionRow[] };
  };
  /** Fails with `conflict` if it would forget another number of commits than `expected`. */
  'repositories.forget': {
    input: InWorkspace & {
      readonly policy: RetentionPolicy;
      /** Patterns of tags to remove, but for those that the policy keeps. */
      readonly tags?: readonly string[];
      readonly save: boolean;
      readonly expected: number;
    };
    answer: ForgetCounts;
  };
}

interface ForgetCounts {
  /** Commits that stay. */
  readonly stay: number;
  readonly forgotten: number;
  readonly removedTags: readonly string[];
}

/** Newest first. */
export type RetentionRow = Omit<RetentionEvent, 'type'>;

export interface RepositoryList {
  readonly repositories: readonly RepositoryCard[];
}

/** Times are RFC 3339. */
export interface RepositoryCard {
  /** The normal form of its URL. */
  readonly id: string;
  readonly url: string;
  /** The names of its remotes. `of` is a workspace's folder, or `user`. */
  readonly knownAs: readonly { readonly name: string; readonly of: string }[];
  /** One of these workspaces says that it is encrypted. */
  readonly isEncrypted?: boolean;
  /**
   * `unknown`: it never answered. `empty`: it has no commit. `none`: the remote has no repository.
   */
  readonly state: 'unknown' | 'ready' | 'empty' | 'none';
  /** The error of the last request. Everything else comes from the last good answer. */
  readonly failure?: ErrorRecord;
  /** The time of the last good answer. */
  readonly answeredAt?: string;
  readonly branch?: string;
  /** The newest commit of the branch: the last push. */
  readonly tip?: RepositoryTip;
  readonly growth: RepositoryGrowth;
  readonly stored?: RepositoryStored;
  readonly garbage?: RepositoryGarbage;
  readonly verified?: RepositoryVerified;
  readonly cost: RepositoryCost;
}

export interface RepositoryTip {
  readonly commit: string;
  readonly time: string;
  readonly author: string;
  readonly files: number;
  readonly bytes: number;
}

/** The growth along the first parents of the branch. */
export interface RepositoryGrowth {
  /** Oldest month first. Months without a commit are absent. */
  readonly months: readonly GrowthMonth[];
  readonly commitsRead: number;
  /** False if there are older commits that were not read yet. */
  readonly isWhole: boolean;
}

export interface GrowthMonth {
  /** Such as `2026-01`, UTC. */
  readonly month: string;
  /** The total size of the month's last commit. */
  readonly bytes: number;
  readonly files: number;
  readonly commits: number;
}

/** The size of all objects of the repository when it was measured. */
export interface RepositoryStored {
  readonly at: string;
  readonly objects: number;
  readonly bytes: number;
  /** The part of `bytes` in commits, manifests and refs. */
  readonly recordBytes: number;
}

/** By the last dry run of a collection, or as a collection by this engine left it. */
export interface RepositoryGarbage {
  readonly at: string;
  /** Everything on the store that commits may name. */
  readonly objects: number;
  readonly bytes: number;
  /** What a collection would remove. */
  readonly garbageObjects: number;
  readonly garbageBytes: number;
  /** Needed by no commit either, but younger than a day. */
  readonly youngObjects: number;
  readonly youngBytes: number;
  /** Packs that a collection would write anew, or wrote, and what that frees: a part of the garbage. */
  readonly repackedPacks: number;
  readonly repackedBytes: number;
  /** True after a collection: this is what it left. */
  readonly isCollected: boolean;
  /** Commits whose content is kept. */
  readonly commits: number;
  readonly forgottenCommits: number;
  /** By list prices; absent for a store without known prices. */
  readonly savedDollarsPerMonth?: number;
}

/** The last `verify` of this user on this machine. */
export interface RepositoryVerified {
  readonly at: string;
  readonly missing: number;
  readonly damaged: number;
  /** The share of the content that was read. Absent if only existence and sizes were checked. */
  readonly readDataPercent?: number;
  /** The branch, tag or commit, if only one was verified. */
  readonly ref?: string;
}

export interface RepositoryCost {
  /** Dollars a month for the stored bytes by the price table. Absent if the price or the size is unknown. */
  readonly storageDollars?: number;
  /** The bytes behind `storageDollars`: all stored bytes, or only the newest version. */
  readonly basis?: 'stored' | 'newest';
  /** Dollars for the requests of this engine's transfers this month. */
  readonly requestDollars: number;
}

/** The new card of a repository, after an answer or an error. */
export interface RepositoryEvent {
  readonly type: 'repository';
  readonly repository: RepositoryCard;
}
