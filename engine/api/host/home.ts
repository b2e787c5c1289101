/** The window's requests for the list of workspaces. */
import type { ErrorRecord } from '../error.ts';
import type { DetachedAt, PendingMerge } from '../jobs/pending-merge.ts';
import type { InWorkspace, Nothing } from './in-workspace.ts';
import type { TransferOrder } from './transfers.ts';

export interface HomeRequests {
  'home.list': { input: Nothing; answer: { readonly workspaces: readonly WorkspaceCard[] } };
  /**
   * Reports how many new commits the remotes of the known workspaces have. Takes one request for each remote
   * whose answer is older than `maxAgeMs`, and none if Settings forbid it, unless the user asked (`isAsked`).
   * A branch that has moved costs one more for each commit that was not counted before.
   */
  'home.look': {
    input: { readonly maxAgeMs: number; readonly isAsked?: boolean };
    answer: { readonly looks: readonly IncomingLook[] };
  };
  /** Fails for a workspace of another user, unless `isForeignListed` is set: its card is `foreign` then. */
  'home.addWorkspace': {
    input: { readonly root: string; readonly isForeignListed?: boolean };
    answer: WorkspaceCard;
  };
  /**
   * Fails with `notFound` if the folder does not exist and `createsFolder` is not set. With a password, a new
   * repository is encrypted; an encrypted one is joined with it, and one that is not encrypted is refused.
   */
  'home.createWorkspace': {
    input: {
      readonly root: string;
      readonly remoteUrl: string;
      readonly createsFolder?: boolean;
      readonly password?: string;
    };
    /** `recoveryKey`: of a new encrypted repository. It is not sent again. */
    answer: WorkspaceCard & { readonly recoveryKey?: string };
  };
  /** Fails if the folder is not suitable for this use. */
  'home.checkFolder': {
    input: { readonly root: string; readonly use: 'workspace' | 'clone' };
    answer: { readonly exists: boolean };
  };
  /** Removes it from the list of workspaces, and stops a clone into it; its files stay. */
  'home.removeWorkspace': { input: InWorkspace; answer: Nothing };
  /**
   * Lets this user open the workspace of another user, as `dray config --user safe.directory` does. Fails
   * with `conflict` if its owner is no longer the one that the user was shown.
   */
  'home.trustFolder': { input: InWorkspace & { readonly owner: number }; answer: Nothing };
  /** Folders of this machine, for hosts without a folder dialog. */
  'home.listFolders': { input: { readonly folder?: string }; answer: FolderListing };
}

export interface WorkspaceCard {
  readonly root: string;
  readonly name: string;
  /**
   * `missing`: the folder is gone or is no longer a workspace. `unfinished`: a clone that has not finished.
   * `foreign`: it belongs to another user, whom this user has not trusted.
   */
  readonly state: 'ready' | 'missing' | 'unfinished' | 'foreign';
  /** Why a foreign workspace is refused. */
  readonly refusal?: ErrorRecord;
  readonly branch?: string;
  /** The repository of its default remote is encrypted. */
  readonly isEncrypted?: boolean;
  /** The order that continues an unfinished clone. */
  readonly clone?: Extract<TransferOrder, { readonly kind: 'clone' }>;
  readonly remotes: readonly { readonly name: string; readonly url: string; readonly isDefault: boolean }[];
  /** The patterns of what it holds. Absent: everything. */
  readonly only?: readonly string[];
  /** Of the default remote, as `merging`. */
  readonly detached?: DetachedAt;
  readonly merging?: PendingMerge;
  /** Of the commit, from the index. */
  readonly files?: number;
  readonly bytes?: number;
  readonly commit?: string;
  /** RFC 3339, of the commit. */
  readonly lastPush?: string;
}

/** Times are RFC 3339. */
export interface IncomingLook {
  readonly root: string;
  /** Absent if unknown: the remote never answered, or the workspace has changed since. */
  readonly hasIncoming?: boolean;
  /** The branch that the workspace has seen is not on the remote any more. */
  readonly isGone?: true;
  /** Absent if nothing is incoming, or while it has not been counted. */
  readonly incoming?: IncomingCount;
  /** The number of local changes at the last scan. Absent if unknown, as after a push. */
  readonly outgoing?: number;
  /** The time of the last good answer. */
  readonly answeredAt?: string;
  /** The error of the last request, if it failed. */
  readonly failure?: ErrorRecord;
  readonly failedAt?: string;
}

export interface IncomingCount {
  /** The commits that the branch has and the workspace lacks. None if the branch was moved back. */
  readonly commits: number;
  /** True if the count stopped at its bound: there are more. */
  readonly isMore: boolean;
  /** True if the branch no longer has the workspace's own commit: it was moved back or rewritten. */
  readonly isRewritten: boolean;
}

export interface FolderListing {
  readonly folder: string;
  readonly parent?: string;
  readonly folders: readonly string[];
  readonly isWorkspace: boolean;
}
