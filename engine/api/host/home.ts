/** The window's requests for the list of workspaces. */
import type { ErrorRecord } from '../error.ts';
import type { InWorkspace, Nothing } from './in-workspace.ts';
import type { TransferOrder } from './transfers.ts';

export interface HomeRequests {
  'home.list': { input: Nothing; answer: { readonly workspaces: readonly WorkspaceCard[] } };
  /**
   * Whether the remotes of the known workspaces have new commits: one request to each remote that was not
   * asked within `maxAgeMs`, and none if Settings forbid it, unless `isAsked` by a person.
   */
  'home.look': {
    input: { readonly maxAgeMs: number; readonly isAsked?: boolean };
    answer: { readonly looks: readonly IncomingLook[] };
  };
  'home.addWorkspace': { input: { readonly root: string }; answer: WorkspaceCard };
  /** Fails with `notFound` if the folder does not exist, unless it may be created. */
  'home.createWorkspace': {
    input: { readonly root: string; readonly remoteUrl: string; readonly createsFolder?: boolean };
    answer: WorkspaceCard;
  };
  /** Fails if the folder cannot be used for this. */
  'home.checkFolder': {
    input: { readonly root: string; readonly use: 'workspace' | 'clone' };
    answer: { readonly exists: boolean };
  };
  /** Removes it from the list of workspaces, and stops a clone into it; its files stay. */
  'home.removeWorkspace': { input: InWorkspace; answer: Nothing };
  /** Folders of this machine, for hosts without a folder dialog. */
  'home.listFolders': { input: { readonly folder?: string }; answer: FolderListing };
}

export interface WorkspaceCard {
  readonly root: string;
  readonly name: string;
  /**
   * `missing`: the folder is gone or is no longer a workspace. `unfinished`: a clone that has not finished.
   */
  readonly state: 'ready' | 'missing' | 'unfinished';
  readonly branch?: string;
  /** The order that continues an unfinished clone. */
  readonly clone?: Extract<TransferOrder, { readonly kind: 'clone' }>;
  readonly remotes: readonly { readonly name: string; readonly url: string; readonly isDefault: boolean }[];
  /** From the index. */
  readonly files?: number;
  readonly bytes?: number;
  readonly commit?: string;
  /** RFC 3339, of the commit. */
  readonly lastPush?: string;
}

/** Times are RFC 3339. */
export interface IncomingLook {
  readonly root: string;
  /** Absent while it is not known: the remote never answered, or the workspace has changed since. */
  readonly hasIncoming?: boolean;
  /** Changes here, as the last request for them found. */
  readonly outgoing?: number;
  /** The last good answer. */
  readonly answeredAt?: string;
  /** The last look failed. */
  readonly failure?: ErrorRecord;
  readonly failedAt?: string;
}

export interface FolderListing {
  readonly folder: string;
  readonly parent?: string;
  readonly folders: readonly string[];
  readonly isWorkspace: boolean;
}
