/** The window's requests for the list of workspaces. */
import type { InWorkspace, Nothing } from './in-workspace.ts';

export interface HomeRequests {
  'home.list': { input: Nothing; answer: { readonly workspaces: readonly WorkspaceCard[] } };
  'home.addWorkspace': { input: { readonly root: string }; answer: WorkspaceCard };
  'home.createWorkspace': {
    input: { readonly root: string; readonly remoteUrl: string };
    answer: WorkspaceCard;
  };
  /** `failed`: files that could not be fetched; a pull fetches them. */
  'home.cloneWorkspace': {
    input: { readonly url: string; readonly root: string };
    answer: WorkspaceCard & { readonly failed: number };
  };
  /** Removes it from the list of workspaces; its files stay. */
  'home.removeWorkspace': { input: InWorkspace; answer: Nothing };
  /** Folders of this machine, for hosts without a folder dialog. */
  'home.listFolders': { input: { readonly folder?: string }; answer: FolderListing };
}

export interface WorkspaceCard {
  readonly root: string;
  readonly name: string;
  /** `missing`: the folder is gone or is no longer a workspace. */
  readonly state: 'ready' | 'missing';
  readonly branch?: string;
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
