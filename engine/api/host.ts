/**
 * What a window asks of the engine, over a MessagePort or a WebSocket. Isomorphic and JSON-safe: the renderer imports these types and nothing
 * else of the engine.
 *
 * Every request has a name of `HostRequests`, an input and one answer. Some tell events before it. A request is stopped by its id.
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

/** Sent in batches, at most every 50 ms; of progress events only the newest of a batch. */
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
  /** Forgets it here; its files stay. */
  'home.removeWorkspace': { input: InWorkspace; answer: Nothing };
  /** Folders of this machine, for hosts that have no dialog of their own. */
  'home.listFolders': { input: { readonly folder?: string }; answer: FolderListing };

  // Changes
  'changes.status': { input: InWorkspace & { readonly remote?: boolean }; answer: StatusSummary };
  /** Scans (push) or asks the remote (pull) and keeps the list; its rows come by `changes.rows`. A new one replaces the old one. */
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
  /** Of the list's rows those at these paths; a path that ends in a slash is a folder's, as the tree view has it. */
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
      /** Of a push (default): the base commit and the file here; of a pull: the file here and the branch's. */
      readonly direction?: 'push' | 'pull';
      /** Of a pull: instead of the branch's newest, the one that its list told. */
      readonly commit?: string;
    };
    answer: { readonly before?: FilePreview; readonly after?: FilePreview };
  };

  // Plan
  'plan.push': {
    input: InWorkspace;
    answer: {
      readonly query: QueryExplanation;
      /** What the push will ask, as far as it can be foreseen; zeros when it has nothing to do. */
      readonly requests: RequestTotals;
      readonly changes: ChangeTotals;
      readonly objects: number;
    };
  };

  // Transfers
  'transfers.start': { input: TransferOrder; answer: { readonly id: string } };
  /** Tells `transfers` events until it is stopped; answers never. */
  'transfers.watch': { input: Nothing; answer: Nothing };
  'transfers.change': {
    input: {
      readonly ids: readonly string[] | 'all';
      readonly action: 'pause' | 'resume' | 'cancel' | 'retry' | 'remove' | 'up' | 'down';
    };
    answer: Nothing;
  };

  /** The files of one that failed, in the order in which they did: the first 1,000. */
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
    /** `isCut`: the folder holds more. */
    answer: { readonly entries: readonly EntryRow[]; readonly isCut: boolean };
  };
  'history.compare': {
    input: InWorkspace & { readonly from: string; readonly to: string; readonly limit: number };
    answer: { readonly changes: ChangeTotals; readonly rows: readonly ChangeRow[]; readonly isCut: boolean };
  };
  /** What a restore of these paths would write, and what of it would be lost. */
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
  /** Which of at most 500 names the folder holds already, as a file or a folder. */
  'browse.taken': {
    input: { readonly place: string; readonly names: readonly string[] };
    answer: { readonly names: readonly string[] };
  };
  'browse.preview': { input: { readonly place: string }; answer: FilePreview };
  'browse.size': {
    input: { readonly place: string };
    answer: { readonly files: number; readonly bytes: number };
  };
  /** Where a store knows no folders, an empty object `NAME/` stands for it. Fails with `conflict` when something is there. */
  'browse.makeFolder': { input: { readonly place: string }; answer: Nothing };
  /**
   * What a copy or a sync would do: its dry run, and the first of its changes; `limit` is at most 500. Of what could not be looked at
   * (`failures`) and of links and special files that stay out (`skipped`), the first few; the summary counts all.
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
      /** A folder of the destination that is a repository of Dray, with a slash at its end, or '' for the destination itself. */
      readonly deletesRepository?: string;
    };
  };
  /** A folder's name ends in a slash: all below it goes. */
  'browse.remove': { input: { readonly places: readonly string[] }; answer: { readonly removed: number } };

  // Remotes
  'remotes.list': { input: Nothing; answer: { readonly remotes: readonly RemoteCard[] } };
  'remotes.add': { input: { readonly name: string; readonly url: string }; answer: Nothing };
  'remotes.remove': { input: { readonly name: string }; answer: Nothing };
  /**
   * Emits `check` events. Uses `keys` (for the profile that the target names) or `token` (for its machine)
   * for this test alone.
   */
  'remotes.test': {
    input: { readonly target: string; readonly keys?: AccessKeys; readonly token?: string };
    answer: { readonly passed: number; readonly failed: number };
  };
  /** Whence a store's keys can come on this machine. */
  'remotes.keySources': { input: Nothing; answer: KeySources };
  'remotes.importable': { input: Nothing; answer: { readonly candidates: readonly ImportCandidate[] } };
  /** What transfers of this user's windows asked of each remote, by month, the newest first. */
  'remotes.usage': { input: Nothing; answer: { readonly months: readonly UsageRow[] } };

  // Peers
  /** The machines that have a token or are trusted. */
  'peers.list': { input: Nothing; answer: { readonly peers: readonly KnownPeer[] } };
  /** Keeps the token for this machine alone. */
  'peers.login': { input: LoginRequest; answer: LoginSummary };
  'peers.logout': { input: Pick<LoginRequest, 'peer'>; answer: LoginSummary };
  /** A person compared this fingerprint. Fails with `accessDenied` where another one is trusted. */
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
  /** `missing`: the folder is gone, or is no workspace any more. */
  readonly state: 'ready' | 'missing';
  readonly branch?: string;
  readonly remotes: readonly { readonly name: string; readonly url: string; readonly isDefault: boolean }[];
  /** As the index knows them. */
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
  /** Of a pull: what it would move to. */
  readonly commit?: string;
}

export interface ChangeView {
  readonly filter?: string;
  readonly kinds?: readonly ChangeRow['change'][];
  readonly sort?: 'path' | 'size';
  /**
   * As a tree, by path: of each folder named here ('' is the top, others end in a slash) its rows, and each folder within as one row.
   * Absent: flat.
   */
  readonly open?: readonly string[];
}

export interface ChangeRow {
  readonly change: ChangeKind | 'conflict';
  readonly path: string;
  readonly fromPath?: string;
  readonly kind: 'file' | 'link' | 'folder';
  readonly sizeBytes: number;
  /** Of what is replaced. */
  readonly oldSizeBytes?: number;
  /** A folder of the tree view: its path ends in a slash, its size is the sum, its change the one that all below have, or `modified`. */
  readonly below?: {
    readonly rows: number;
    readonly deleted: number;
    /** Of what was added or modified. */
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
      /** Paths that stay as the base has them; one that ends in a slash: all below. Of a rename, name both. */
      readonly skip?: readonly string[];
    }
  | {
      readonly kind: 'pull';
      readonly root: string;
      readonly ref?: string;
      readonly conflicts?: 'stop' | 'theirs' | 'ours';
      /** Conflicting paths that are decided otherwise than `conflicts` says. */
      readonly decisions?: Readonly<Record<string, 'theirs' | 'ours'>>;
    }
  | {
      readonly kind: 'restore';
      readonly root: string;
      readonly paths: readonly string[];
      readonly from?: string;
      /** Fails with `conflict` instead of writing over what changed here since the last push. */
      readonly keepsChanges?: boolean;
    }
  | {
      readonly kind: 'copy';
      readonly source: string;
      readonly destination: string;
      /** Of the folder `source` these files and no others. */
      readonly names?: readonly string[];
    }
  | {
      readonly kind: 'sync';
      readonly source: string;
      readonly destination: string;
      /** Files that it may delete, as the user saw them in the plan; default: the engine's own bound. */
      readonly maxDelete?: number;
    };

export type TransferState = 'waiting' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';

export interface Transfer {
  readonly id: string;
  /** Of long lists of paths in it, the first few: the host keeps them all. */
  readonly order: TransferOrder;
  readonly title: string;
  readonly state: TransferState;
  readonly phase?: string;
  readonly filesDone: number;
  readonly filesTotal?: number;
  readonly bytesDone: number;
  readonly bytesTotal?: number;
  /** The totals, and the time left, are at least so much: it is still being found out what there is to do. */
  readonly isCounting?: boolean;
  /** Of what is not done yet: so many bytes went over the wire already. */
  readonly bytesUnderWay?: number;
  readonly bytesPerSecond: number;
  /** Absent while nothing can be said. */
  readonly secondsLeft?: number;
  readonly startedMs?: number;
  readonly endedMs?: number;
  /** Requests in flight to the remotes; only while it runs. */
  readonly inFlight?: number;
  /** How many there may be, as the engine adapts it to the link. */
  readonly inFlightMax?: number;
  readonly requests?: RequestTotals;
  readonly summary?: PushSummary | PullSummary | object;
  /** What holds it up at the moment, or why it stands still. It goes by itself when that has passed. */
  readonly notice?: string;
  readonly warnings: readonly string[];
  /** Files that failed and let the others go on; `transfers.failures` tells which. */
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

/** `path` is relative to the folder that was listed; a folder's ends in a slash. `mtime` is RFC 3339, of whatever place. */
export type EntryRow = Omit<EntryEvent, 'type'>;

export interface RemoteCard {
  readonly name: string;
  readonly url: string;
  /** `user`: known in every folder; else the workspace's root. */
  readonly of: string;
}

export interface AccessKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface KeySources {
  /** What a URL's `profile=` can name: profiles of `~/.aws`, remotes of rclone that have keys, keys that were typed and kept. */
  readonly profiles: readonly { readonly name: string; readonly from: 'aws' | 'rclone' | 'kept' }[];
  /** Keys of AWS are in the engine's environment. */
  readonly hasEnvironmentKeys: boolean;
}

export interface UsageRow {
  /** Such as `2026-01`, UTC. */
  readonly month: string;
  /** A URL without secrets; of a copy between two places, both. */
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
  /** Bytes a second by day and hour; null: no limit. */
  readonly bandwidth: { readonly limit: number | null; readonly from?: string; readonly to?: string };
  readonly transfers: number | null;
  readonly notifications: boolean;
}
