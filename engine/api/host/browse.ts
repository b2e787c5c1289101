/** The requests of the screen Browse: any local folder or remote. */
import type { EntryEvent } from '../events.ts';
import type { TransferSummary } from '../jobs/trees.ts';
import type { ChangeRow } from './changes.ts';
import type { FilePreview } from './file-preview.ts';
import type { Nothing } from './in-workspace.ts';
import type { TransferFailure } from './transfers.ts';

export interface BrowseRequests {
  /**
   * Lists one level of a local folder or a remote, and keeps the entries for `browse.rows`. Sends `listing`
   * events from the first entries on, and answers when the listing is complete. A listing that was stopped or
   * failed keeps its list, and `resume` continues it.
   */
  'browse.open': {
    input: {
      readonly place: string;
      /**
       * Instead of one level, all entries below the place with this text in their names, ignoring case. Only
       * in a version of a repository.
       */
      readonly search?: string;
      readonly resume?: string;
    };
    /** `isCut`: the folder has more entries than a list can hold. */
    answer: {
      readonly list: string;
      readonly total: number;
      readonly isCut: boolean;
      readonly isRepository: boolean;
    };
  };
  'browse.rows': {
    /** `limit` is at most 500. */
    input: InList & { readonly view: EntryView; readonly offset: number; readonly limit: number };
    /** `total` and `bytes` count the entries of the view that are listed until now. */
    answer: { readonly total: number; readonly bytes: number; readonly rows: readonly EntryRow[] };
  };
  /** The first row of the view whose name starts with the text, ignoring case; or the row of this path. */
  'browse.seek': {
    input: InList & {
      readonly view: EntryView;
      readonly sought: { readonly startsWith: string } | { readonly path: string };
    };
    answer: { readonly index?: number };
  };
  /** The entries of the list at these paths: at most 10,000. */
  'browse.find': {
    input: InList & { readonly paths: readonly string[] };
    answer: { readonly rows: readonly EntryRow[] };
  };
  /**
   * The branches and tags of a repository. Takes one request for each of the two lists, and two for each of
   * the first 20 branches.
   */
  'browse.repository': { input: { readonly place: string }; answer: BrowsedRepository };
  /** The folders and the order of the panes, as the last window left them. */
  'browse.panes': { input: Nothing; answer: KeptPanes };
  'browse.keepPane': { input: { readonly side: 'left' | 'right'; readonly pane: KeptPane }; answer: Nothing };
  'browse.close': { input: InList; answer: Nothing };
  /**
   * Finds which of up to 500 names, or of the chosen entries of a list, exist in the folder. `names` has the
   * first 500 of them, `total` counts all.
   */
  'browse.taken': {
    input: { readonly place: string } & ({ readonly names: readonly string[] } | { readonly all: AllChosen });
    answer: { readonly names: readonly string[]; readonly total: number };
  };
  'browse.preview': { input: { readonly place: string }; answer: FilePreview };
  /** A range of a file, at most `BYTES_AT_ONCE_MAX` bytes, in base64. Shorter at the end of the file. */
  'browse.bytes': {
    input: { readonly place: string; readonly start: number; readonly limit: number };
    answer: { readonly base64: string };
  };
  'browse.size': {
    input: { readonly place: string };
    answer: { readonly files: number; readonly bytes: number };
  };
  /**
   * On a store without folders, creates an empty object `NAME/`. Fails with `conflict` when the name exists.
   */
  'browse.makeFolder': { input: { readonly place: string }; answer: Nothing };
  /** Fails as `browse.remove` does if the place is inside a repository that is not confirmed. */
  'browse.checkWrite': { input: { readonly place: string } & ConfirmedRepositories; answer: Nothing };
  /**
   * The dry run of a copy or sync, with the first of its changes (`limit` is at most 500). Unreadable items
   * (`failures`) and excluded links and special files (`skipped`) list only the first few; the summary counts
   * all.
   */
  'browse.plan': {
    input: {
      readonly kind: 'copy' | 'sync';
      readonly source: string;
      readonly destination: string;
      readonly limit: number;
    };
    answer: {
      readonly summary: TransferSummary;
      readonly rows: readonly ChangeRow[];
      readonly isCut: boolean;
      readonly failures: readonly TransferFailure[];
      /** Paths. */
      readonly skipped: readonly string[];
      /**
       * A Dray repository in the destination that the sync would delete, as a folder with a slash at its end,
       * or '' for the destination itself.
       */
      readonly deletesRepository?: string;
    };
  };
  /**
   * Removes at most 500 places, or the chosen entries of a list, with `progress` events. A name that ends in
   * a slash removes the folder and everything in it. Fails with `conflict` and the name in `data.repository`
   * before it removes stored objects of a repository that is not confirmed.
   */
  'browse.remove': {
    input: ({ readonly places: readonly string[] } | { readonly all: AllChosen }) & ConfirmedRepositories;
    answer: { readonly removed: number };
  };
}

/** The repositories whose names the user typed to allow changes of their stored objects. */
export interface ConfirmedRepositories {
  readonly confirmed?: readonly string[];
}

interface InList {
  readonly list: string;
}

export interface KeptPanes {
  readonly left?: KeptPane;
  readonly right?: KeptPane;
}

export interface KeptPane {
  /** The root place: a folder of this computer, or a remote. */
  readonly root: string;
  /** A relative path. Empty, or it ends in a slash. */
  readonly folder: string;
  readonly column: 'name' | 'size' | 'time';
  readonly isDescending: boolean;
}

export interface BrowsedRepository {
  readonly branches: readonly {
    readonly name: string;
    readonly commit: string;
    readonly files: number;
    readonly bytes: number;
    readonly author: string;
    readonly message: string;
    /** RFC 3339. */
    readonly time: string;
  }[];
  /** Counts all branches, also those that are not listed. */
  readonly branchCount: number;
  readonly tagCount: number;
}

export interface EntryView {
  /** A part of the name, ignoring case. */
  readonly filter?: string;
  /** Default: by name. Folders always come first. */
  readonly sort?: 'name' | 'size' | 'time';
  readonly isDescending?: boolean;
}

/** The entries of a list that match the filter, except at most 10,000 paths. */
export interface AllChosen {
  readonly list: string;
  readonly filter: string;
  readonly except: readonly string[];
}

/**
 * `path` is relative to the listed folder; a folder's ends in a slash. `mtime` is RFC 3339 for every kind of
 * place.
 */
export type EntryRow = Omit<EntryEvent, 'type'> & {
  /** Set for a local folder that is a repository. Not set for folders of a remote. */
  readonly isRepository?: true;
};
