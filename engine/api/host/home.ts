/** The window's requests for the list of workspaces. */
import type { InWorkspace, Nothing } from './in-workspace.ts';
import type { TransferOrder } from './transfers.ts';

export interface HomeRequests {
  'home.list': { input: Nothing; answer: { readonly workspaces: readonly WorkspaceCard[] } };
  'home.addWorkspace': { input: { readonly root: string }; answer: WorkspaceCard };
  'home.createWorkspace': {
    input: { readonly root: string; readonly remoteUrl: string };
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

export interface FolderListing {
  readonly folder: string;
  readonly parent?: string;
  readonly folders: readonly string[];
  readonly isWorkspace: boolean;
}
