/**
 * The requests that a window sends to the engine over a MessagePort or a WebSocket. Isomorphic and JSON-safe:
 * the renderer imports these types and nothing else of the engine.
 *
 * Every request has a name of `HostRequests`, an input and one answer. Some send events before it. A request
 * is stopped by its id.
 */
import type { ErrorRecord } from './error.ts';
import type { ChangeKind, CommitEvent, EntryEvent, JobEvent, QueryExplanation } from './events.ts';
import type {
  ChangeTotals,
  MetPeer,
  PullSummary,
  PushSummary,
  RequestTotals,
  RestorePlan,
  StatusSummary,
} from './jobs.ts';
import type { KnownPeer, LoginRequest, LoginSummary } from './peers.ts';
import type { TransferSummary } from './trees.ts';

export type ClientMessage =
  | { readonly do: 'ask'; readonly id: number; readonly name: HostRequestName; readonly input: unknown }
  | { readonly do: 'stop'; readonly id: number };

export type HostMessage =
  | { readonly is: 'events'; readonly id: number; readonly events: readonly HostEvent[] }
  | { readonly is: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly is: 'failed'; readonly id: number; readonly error: ErrorRecord };

/** Sent in batches, at most every 50 ms, with only the newest progress event of a batch. */
export type HostEvent = JobEvent | { readonly type: 'transfers'; readonly transfers: readonly Transfer[] };

export interface HostRequests {
  // Home
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

  // Changes
  'changes.status': { input: InWorkspace & { readonly remote?: boolean }; answer: StatusSummary };
  /**
   * Scans (push) or asks the remote (pull) and keeps the list, whose rows `changes.rows` returns. A new list
   * replaces the old one.
   */
  'changes.open': {
    input: InWorkspace & { readonly direction: 'push' | 'pull' };
    answer: ChangeList;
  };
  'changes.rows': {
    input: InWorkspace & {
      readonly list: string;
      readonly offset: number;
      /** At most 500. */
      readonly limit: number;
      readonly view: ChangeView;
    };
    /** `total`: rows of this view. */
    answer: { readonly total: number; readonly rows: readonly ChangeRow[] };
  };
  /** The rows of the list at these paths. A path that ends in a slash is a folder of the tree view. */
  'changes.find': {
    input: InWorkspace & { readonly list: string; readonly paths: readonly string[] };
    answer: { readonly rows: readonly ChangeRow[] };
  };
  'changes.close': { input: InWorkspace & { readonly list: string }; answer: Nothing };
  /** Both sides of one change. */
  'changes.preview': {
    input: InWorkspace & {
      readonly path: string;
      readonly fromPath?: string;
      /**
       * `push` (default) compares the base commit with the local file; `pull` compares the local file with
       * the branch.
       */
      readonly direction?: 'push' | 'pull';
      /** For a pull: the commit that the list named, instead of the branch's newest. */
      readonly commit?: string;
    };
    answer: { readonly before?: FilePreview; readonly after?: FilePreview };
  };

  // Plan
  'plan.push': {
    input: InWorkspace;
    answer: {
      readonly query: QueryExplanation;
      /**
       * The requests that the push will need, as far as they can be foreseen; zeros when it has nothing to
       * do.
       */
      readonly requests: RequestTotals;
      readonly changes: ChangeTotals;
      readonly objects: number;
    };
  };

  // Transfers
  'transfers.start': { input: TransferOrder; answer: { readonly id: string } };
  /** Sends `transfers` events until it is stopped; never answers. */
  'transfers.watch': { input: Nothing; answer: Nothing };
  'transfers.change': {
    input: {
      readonly ids: readonly string[] | 'all';
      readonly action: 'pause' | 'resume' | 'cancel' | 'retry' | 'remove' | 'up' | 'down';
    };
    answer: Nothing;
  };

  /** The failed files of one transfer, in the order of failure: the first 1,000. */
  'transfers.failures': {
    input: { readonly id: string };
    answer: { readonly failures: readonly TransferFailure[] };
  };

  // History
  'history.list': {
    input: InWorkspace & { readonly branch?: string; readonly limit: number };
    answer: { readonly commits: readonly CommitEvent[]; readonly refs: readonly RefRow[] };
  };
  /** One level of a commit's tree. */
  'history.entries': {
    input: InWorkspace & { readonly commit: string; readonly folder: string };
    /** `isCut`: the folder holds more entries. */
    answer: { readonly entries: readonly EntryRow[]; readonly isCut: boolean };
  };
  'history.compare': {
    input: InWorkspace & { readonly from: string; readonly to: string; readonly limit: number };
    answer: { readonly changes: ChangeTotals; readonly rows: readonly ChangeRow[]; readonly isCut: boolean };
  };
  /** What a restore of these paths would write, and which local changes it would lose. */
  'history.planRestore': {
    input: InWorkspace & { readonly commit: string; readonly paths: readonly string[] };
    answer: RestorePlan;
  };
  'history.preview': {
    input: InWorkspace & { readonly commit: string; readonly path: string };
    answer: FilePreview;
  };

  // Browse
  /** One level of a local folder or of any remote; at most 1,000 entries, then `next`. */
  'browse.list': {
    input: { readonly place: string; readonly after?: string };
    answer: { readonly entries: readonly EntryRow[]; readonly next?: string };
  };
  /** Which of at most 500 names exist in the folder, as a file or a folder. */
  'browse.taken': {
    input: { readonly place: string; readonly names: readonly string[] };
    answer: { readonly names: readonly string[] };
  };
  'browse.preview': { input: { readonly place: string }; answer: FilePreview };
  'browse.size': {
    input: { readonly place: string };
    answer: { readonly files: number; readonly bytes: number };
  };
  /**
   * On a store without folders, creates an empty object `NAME/`. Fails with `conflict` when the name exists.
   */
  'browse.makeFolder': { input: { readonly place: string }; answer: Nothing };
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
  /** A name that ends in a slash removes the folder and everything in it. */
  'browse.remove': { input: { readonly places: readonly string[] }; answer: { readonly removed: number } };

  // Remotes
  'remotes.list': { input: Nothing; answer: { readonly remotes: readonly RemoteCard[] } };
  'remotes.add': { input: { readonly name: string; readonly url: string }; answer: Nothing };
  'remotes.remove': { input: { readonly name: string }; answer: Nothing };
  /**
   * Emits `check` events. Uses `keys` (for the target's profile) or `token` (for its machine) for this test
   * only.
   */
  'remotes.test': {
    input: { readonly target: string; readonly keys?: AccessKeys; readonly token?: string };
    answer: { readonly passed: number; readonly failed: number };
  };
  /** The places on this machine that can provide a store's keys. */
  'remotes.keySources': { input: Nothing; answer: KeySources };
  'remotes.importable': { input: Nothing; answer: { readonly candidates: readonly ImportCandidate[] } };
  /** The requests that this user's transfers sent to each remote, by month, newest first. */
  'remotes.usage': { input: Nothing; answer: { readonly months: readonly UsageRow[] } };

  // Peers
  /** The machines with a saved token or a trusted certificate. */
  'peers.list': { input: Nothing; answer: { readonly peers: readonly KnownPeer[] } };
  /** Saves the token for this machine only. */
  'peers.login': { input: LoginRequest; answer: LoginSummary };
  'peers.logout': { input: Pick<LoginRequest, 'peer'>; answer: LoginSummary };
  /** Trusts a fingerprint that the user compared. Fails with `accessDenied` where another one is trusted. */
  'peers.trust': { input: MetPeer; answer: Nothing };

  // Settings
  'settings.get': { input: Nothing; answer: Settings };
  'settings.set': { input: Partial<Settings>; answer: Settings };
}

export type HostRequestName = keyof HostRequests;
export type InputOf<N extends HostRequestName> = HostRequests[N]['input'];
export type AnswerOf<N extends HostRequestName> = HostRequests[N]['answer'];

export type Nothing = Readonly<Record<string, never>>;

export interface InWorkspace {
  /** Absolute. */
  readonly root: string;
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

export interface ChangeList {
  readonly list: string;
  readonly direction: 'push' | 'pull';
  readonly totals: ChangeTotals;
  readonly conflicts: number;
  readonly failed: number;
  /** For a pull: the commit that it would move to. */
  readonly commit?: string;
}

export interface ChangeView {
  readonly filter?: string;
  readonly kinds?: readonly ChangeRow['change'][];
  readonly sort?: 'path' | 'size';
  /**
   * For the tree view: returns the rows of each folder named here ('' is the top, others end in a slash),
   * with each subfolder as one row. Absent: a flat list.
   */
  readonly open?: readonly string[];
}

export interface ChangeRow {
  readonly change: ChangeKind | 'conflict';
  readonly path: string;
  readonly fromPath?: string;
  readonly kind: 'file' | 'link' | 'folder';
  readonly sizeBytes: number;
  /** The size of the replaced file. */
  readonly oldSizeBytes?: number;
  /**
   * A folder of the tree view. Its path ends in a slash, its size is the sum, and its change is the one that
   * all items below share, or `modified`.
   */
  readonly below?: {
    readonly rows: number;
    readonly deleted: number;
    /** Bytes added or modified. */
    readonly bytes: number;
  };
}

export type FilePreview =
  | { readonly as: 'text'; readonly text: string; readonly isCut: boolean; readonly facts: FileFacts }
  | { readonly as: 'image'; readonly mime: string; readonly base64: string; readonly facts: FileFacts }
  | { readonly as: 'facts'; readonly facts: FileFacts };

export interface FileFacts {
  readonly sizeBytes: number;
  readonly mtime?: string;
  readonly hash?: string;
}

export type TransferOrder =
  | {
      readonly kind: 'push';
      readonly root: string;
      readonly message?: string;
      /**
       * Paths that keep their state of the base; one that ends in a slash includes all below it. For a
       * rename, name both paths.
       */
      readonly skip?: readonly string[];
    }
  | {
      readonly kind: 'pull';
      readonly root: string;
      readonly ref?: string;
      readonly conflicts?: 'stop' | 'theirs' | 'ours';
      /** Conflicting paths with a decision other than `conflicts`. */
      readonly decisions?: Readonly<Record<string, 'theirs' | 'ours'>>;
    }
  | {
      readonly kind: 'restore';
      readonly root: string;
      readonly paths: readonly string[];
      readonly from?: string;
      /** Fails with `conflict` instead of overwriting files that changed here since the last push. */
      readonly keepsChanges?: boolean;
    }
  | {
      readonly kind: 'copy';
      readonly source: string;
      readonly destination: string;
      /** Only these files of the folder `source`. */
      readonly names?: readonly string[];
    }
  | {
      readonly kind: 'sync';
      readonly source: string;
      readonly destination: string;
      /** The number of deletions that the user saw in the plan; default: the engine's own bound. */
      readonly maxDelete?: number;
    };

export type TransferState = 'waiting' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';

export interface Transfer {
  readonly id: string;
  /** Long lists of paths are cut to their first few; the host keeps them all. */
  readonly order: TransferOrder;
  readonly title: string;
  readonly state: TransferState;
  readonly phase?: string;
  readonly filesDone: number;
  readonly filesTotal?: number;
  readonly bytesDone: number;
  readonly bytesTotal?: number;
  /** The totals and the remaining time are lower bounds: the search for work has not finished. */
  readonly isCounting?: boolean;
  /** Bytes of unfinished items that are already on the wire. */
  readonly bytesUnderWay?: number;
  readonly bytesPerSecond: number;
  /** Absent while there is no estimate. */
  readonly secondsLeft?: number;
  readonly startedMs?: number;
  readonly endedMs?: number;
  /** Requests in flight to the remotes; only while the transfer runs. */
  readonly inFlight?: number;
  /** The current limit of requests in flight, which the engine adapts to the link. */
  readonly inFlightMax?: number;
  readonly requests?: RequestTotals;
  readonly summary?: PushSummary | PullSummary | object;
  /** Why the transfer waits. Cleared when the cause has passed. */
  readonly notice?: string;
  readonly warnings: readonly string[];
  /** Failed files that did not stop the others; `transfers.failures` lists them. */
  readonly failed: number;
  readonly error?: ErrorRecord;
}

export interface TransferFailure {
  readonly path: string;
  readonly message: string;
}

export interface RefRow {
  readonly name: string;
  readonly kind: 'branch' | 'tag';
  readonly commit: string;
  readonly isCurrent: boolean;
}

/**
 * `path` is relative to the listed folder; a folder's ends in a slash. `mtime` is RFC 3339 for every kind of
 * place.
 */
export type EntryRow = Omit<EntryEvent, 'type'>;

export interface RemoteCard {
  readonly name: string;
  readonly url: string;
  /** `user`: defined for every folder; otherwise the workspace's root. */
  readonly of: string;
}

export interface AccessKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface KeySources {
  /** Names for a URL's `profile=`: profiles of `~/.aws`, remotes of rclone with keys, and saved keys. */
  readonly profiles: readonly { readonly name: string; readonly from: 'aws' | 'rclone' | 'kept' }[];
  /** The engine's environment holds AWS keys. */
  readonly hasEnvironmentKeys: boolean;
}

export interface UsageRow {
  /** Such as `2026-01`, UTC. */
  readonly month: string;
  /** A URL without secrets; for a copy between two remotes, both. */
  readonly place: string;
  readonly transfers: number;
  readonly requests: RequestTotals;
}

export interface ImportCandidate {
  readonly from: 'aws' | 'rclone';
  readonly name: string;
  /** Without a bucket where the source names none. */
  readonly url: string;
  readonly note?: string;
}

export interface Settings {
  readonly theme: 'system' | 'light' | 'dark';
  /** Bytes per second by day and hour; null: no limit. */
  readonly bandwidth: { readonly limit: number | null; readonly from?: string; readonly to?: string };
  readonly transfers: number | null;
  readonly notifications: boolean;
}
