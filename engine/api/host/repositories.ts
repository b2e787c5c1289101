/** The requests for the overview of all repositories that this user knows. */
import type { ErrorRecord } from '../error.ts';
import type { Nothing } from './in-workspace.ts';

export interface RepositoriesRequests {
  /** What is remembered of each; no request to a store. */
  'repositories.list': { input: Nothing; answer: RepositoryList };
  /**
   * Asks each remote, or those with these ids, for its branch and its newest commit, and reads older commits
   * that were not read before, at most `commits` of each. Emits a `repository` event as each answers.
   */
  'repositories.look': {
    input: { readonly ids?: readonly string[]; readonly commits?: number };
    answer: RepositoryList;
  };
  /** Lists all objects of one repository: one request for each 1,000. Emits `progress` events. */
  'repositories.measure': { input: { readonly id: string }; answer: RepositoryCard };
}

export interface RepositoryList {
  readonly repositories: readonly RepositoryCard[];
}

/** Times are RFC 3339. */
export interface RepositoryCard {
  /** The normal form of its URL. */
  readonly id: string;
  readonly url: string;
  /** The names by which this user knows it; `of` is a workspace's folder, or `user`. */
  readonly knownAs: readonly { readonly name: string; readonly of: string }[];
  /**
   * `unknown`: it never answered. `empty`: it has no commit. `none`: the user's remote holds no repository.
   */
  readonly state: 'unknown' | 'ready' | 'empty' | 'none';
  /** Why the last look or measurement failed. Everything else is of the last good answer. */
  readonly failure?: ErrorRecord;
  /** The last good answer. */
  readonly answeredAt?: string;
  readonly branch?: string;
  /** The newest commit of the branch: the last push. */
  readonly tip?: RepositoryTip;
  readonly growth: RepositoryGrowth;
  readonly stored?: RepositoryStored;
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

/** Along the first parents of the branch. */
export interface RepositoryGrowth {
  /** The oldest month first; months without a commit are absent. */
  readonly months: readonly GrowthMonth[];
  readonly commitsRead: number;
  /** False: older commits were not read yet. */
  readonly isWhole: boolean;
}

export interface GrowthMonth {
  /** Such as `2026-01`, UTC. */
  readonly month: string;
  /** Of the month's last commit. */
  readonly bytes: number;
  readonly files: number;
  readonly commits: number;
}

/** All objects of the repository when it was measured. */
export interface RepositoryStored {
  readonly at: string;
  readonly objects: number;
  readonly bytes: number;
  /** The part of `bytes` that is commits and manifests, not content. */
  readonly recordBytes: number;
}

/** The last `verify` of this user on this machine. */
export interface RepositoryVerified {
  readonly at: string;
  readonly missing: number;
  readonly damaged: number;
  /** The share of the content that was read; absent: only existence and sizes were checked. */
  readonly readDataPercent?: number;
  /** Only this branch, tag or commit was verified. */
  readonly ref?: string;
}

export interface RepositoryCost {
  /** Dollars a month for the stored bytes by the price table; absent without a price or a size. */
  readonly storageDollars?: number;
  /** What the storage was computed of: all stored bytes, or the newest version alone. */
  readonly basis?: 'stored' | 'newest';
  /** Dollars of the requests of this month's transfers from here. */
  readonly requestDollars: number;
}

/** A repository answered, or failed to. */
export interface RepositoryEvent {
  readonly type: 'repository';
  readonly repository: RepositoryCard;
}
