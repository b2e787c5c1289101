/** The contract of each job: its request and its summary. Isomorphic and JSON-safe. */
import type { ErrorCode } from '../error.ts';
import type { JobEvent, QueryExplanation, QueryMode } from '../events.ts';
import type { ArrivingCommit, DetachedAt, PendingMerge } from './pending-merge.ts';
import type { MasterKeys } from './repositories.ts';
import type { WorkspaceScope } from './workspace-scope.ts';

/**
 * @param name The method of the store.
 * @param key The key of the request, if it has a single one.
 * @returns To be called when the request ends, with its error if it failed. Only the first call counts.
 */
export type CallListener = (name: string, key: string | undefined) => (failure?: ErrorCode) => void;

/** Passed to every job. */
export interface JobContext {
  /** Where the command runs: the workspace is this folder or the nearest one above it. */
  readonly directory: string;
  /** Which of the workspace's remotes; the default one when absent. */
  readonly remoteName?: string;
  /** Flags that win over the URL's silence; see `remotes/remote-url.ts` for the order. */
  readonly connection: ConnectionFlags;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * The URLs of the request were typed on this command line, so they may receive the token of the environment
   * and name a token file. Never true for a URL from a page, a link or a settings file.
   */
  readonly isTyped?: boolean;
  /**
   * Decides whether to trust a peer that this machine has not connected to before. Dray calls it before it
   * sends anything. Without it, Dray trusts no new peer.
   */
  readonly trustsNewPeer?: (peer: MetPeer) => Promise<boolean>;
  /** Asks the person for a password, without showing it. Absent if nobody can be asked. */
  readonly askPassword?: (question: string) => Promise<string>;
  readonly masterKeys?: MasterKeys;
  readonly signal: AbortSignal;
  readonly emit: (event: JobEvent) => void;
  /**
   * Undefined while the consumer of the events keeps up; otherwise resolves once it does. A job that emits an
   * event per item waits for it between items, so that unread events do not pile up in memory.
   */
  readonly drained?: () => Promise<void> | undefined;
  /** Limits the content that jobs transfer. Jobs with the same throttle share its limit. */
  readonly throttle?: Throttle;
  /** Limits the requests to remotes, repeated ones included: each takes 1. */
  readonly requestThrottle?: Throttle;
  /** Called at the start of each attempt of a request to a remote. */
  readonly onCall?: CallListener;
  /** Called with the failure of each request to a remote that is going to be repeated. */
  readonly onRetry?: (failure: ErrorCode) => void;
  /** On a worker of a fleet: the one folder that jobs may push, and the name by which they ask for it. */
  readonly offers?: { readonly worker: string; readonly folder: string };
  /** For `copy - OBJECT`. */
  readonly standardInput?: AsyncIterable<Uint8Array>;
  /** For `cat` and `copy OBJECT -`; resolves when it accepts more. */
  readonly standardOutput?: (chunk: Uint8Array) => Promise<void>;
}

/** A peer at the first connection: the user compares its fingerprint with the one that is shown there. */
export interface MetPeer {
  /** `HOST:PORT`. */
  readonly address: string;
  /** SHA-256 of its certificate, in hex pairs with colons. */
  readonly fingerprint: string;
}

export interface Throttle {
  /** Resolves when that many bytes (or requests) may be sent, in the order of the calls. Undefined: now. */
  take(units: number, signal: AbortSignal | undefined): Promise<void> | undefined;
}

/** The largest number of requests in flight that a user can set. */
export const TRANSFERS_MAX = 1024;

/** How to reach a store, where its URL does not say. */
export interface ConnectionFlags {
  /** The URL of an S3 server that is not Amazon's. */
  readonly endpoint?: string;
  /** The region of the bucket, such as `eu-central-1`. */
  readonly region?: string;
  /** A profile of the AWS settings, for its keys and region. */
  readonly profile?: string;
  /** Name the bucket in the path of a request instead of in the host. */
  readonly pathStyle?: boolean;
  /** Send unsigned requests, for public buckets. */
  readonly anonymous?: boolean;
  /** Requests in flight, at most `TRANSFERS_MAX`; adaptive when absent. */
  readonly transfers?: number;
  /** Limits the content of this connection, both ways together; unlimited when absent. */
  readonly bandwidthBytesPerSecond?: number;
}

/** Requests that the job sent, by class, and their price by the remote's row in the price table. */
export interface RequestTotals {
  readonly reads: number;
  readonly writes: number;
  readonly lists: number;
  readonly deletes: number;
  readonly total: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly dollars: number;
}

/** How many paths differ, by how they do. */
export interface ChangeTotals {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  readonly renamed: number;
  readonly mode: number;
  /** The size of added and modified files. */
  readonly bytes: number;
}

export interface InitRequest {
  /** A relative path is resolved from `relativeTo`, by default the folder that becomes the workspace. */
  readonly remoteUrl: string;
  readonly relativeTo?: string;
  readonly remoteName?: string;
  readonly branch?: string;
  readonly layout?: {
    readonly kind?: 'packs' | 'objects';
    readonly packBelow?: number;
    readonly chunkAbove?: number;
  };
  /** Default: `auto`. */
  readonly compression?: 'auto' | 'off' | 'max';
  /** Make an encrypted repository; an error if there is one that is not. */
  readonly encrypt?: boolean;
}
export interface InitSummary {
  readonly workspace: string;
  readonly remoteUrl: string;
  readonly repositoryId: string;
  /** False when the URL already held a repository, which the workspace joined. */
  readonly created: boolean;
  readonly branch: string;
  readonly encrypted: boolean;
  /** Of an encrypted repository that was created now: opens it without a password. Shown this once. */
  readonly recoveryKey?: string;
}

export interface CloneRequest {
  readonly url: string;
  /** Default: the last part of the URL. */
  readonly directory?: string;
  readonly ref?: string;
  /** Patterns of the part that the workspace holds (model/scope.ts). Default: everything. */
  readonly only?: readonly string[];
}

/** What to find out about a workspace. */
export interface StatusRequest {
  /** Also compare the branch with the remote's. */
  readonly remote?: boolean;
}
/** The state of a workspace. */
export interface StatusSummary {
  readonly branch: string;
  /** Null before the first push. */
  readonly commit: string | null;
  /** A commit of which not all files are here yet. Those that are do not count as changes. */
  readonly arriving?: string;
  readonly files: number;
  readonly bytes: number;
  readonly changes: ChangeTotals;
  readonly failed: number;
  /**
   * With `remote`: the branch compared with the remote's. `ahead` counts local changes as one future commit.
   */
  readonly upstream?: {
    readonly state: 'same' | 'behind' | 'diverged' | 'absent';
    readonly commit: string | null;
    readonly changes: ChangeTotals;
  };
  /** Of a workspace that holds a part of the dataset. */
  readonly scope?: WorkspaceScope;
  readonly detached?: DetachedAt;
  readonly merging?: PendingMerge;
}

/** What to push, and how. */
export interface PushRequest {
  /** Of the commit. Default: a summary of the changes. */
  readonly message?: string;
  /** Only find out what would be pushed. */
  readonly dryRun?: boolean;
  /** Default `auto`. */
  readonly query?: QueryMode;
  /** Ask the remote again instead of using the index. */
  readonly noIndex?: boolean;
  /**
   * Paths whose changes are not pushed: they keep their state of the base. One that ends in a slash includes
   * all below it. Cannot be used with `noIndex`.
   */
  readonly skip?: readonly string[];
  /** Push even if many files have become empty. */
  readonly allowEmptied?: boolean;
}
/** What a push did, or in a dry run would do. */
export interface PushSummary {
  readonly result: 'pushed' | 'nothingToPush' | 'wouldPush';
  readonly branch: string;
  /** The branch's current commit. */
  readonly commit: string | null;
  /** The other commit, when the push merged one. */
  readonly mergedWith?: string;
  /** The commit of a `merge` that this push records. */
  readonly merged?: string;
  readonly changes: ChangeTotals;
  /** In a dry run: what would be sent. The bytes may be those of content that will be compressed. */
  readonly uploadedObjects: number;
  readonly uploadedBytes: number;
  readonly beforeCompression?: true;
  readonly failed: number;
  /** What a commit does not keep of these files; absent if there is nothing. */
  readonly notKept?: { readonly hardLinks: number };
  readonly query: QueryExplanation;
  /** The requests of this run; in a dry run, those of planning. */
  readonly requests: RequestTotals;
  /** In a dry run: the requests of the push, as far as they can be foreseen. */
  readonly forecast?: RequestTotals;
  /** If there was nothing to push. */
  readonly detached?: DetachedAt;
}

/** What to pull, and what becomes of conflicts. */
export interface PullRequest {
  /** Default: the current branch. */
  readonly ref?: string;
  /** Only find out what would be pulled. */
  readonly dryRun?: boolean;
  /** Default `stop`: fail before anything is written. */
  readonly conflicts?: 'stop' | ConflictSide;
  /** Conflicting paths with a decision other than `conflicts`. */
  readonly decisions?: Readonly<Record<string, ConflictSide>>;
}
/**
 * `both`: the remote's version takes the path, and the local one gets a second name. Where only one side
 * still has the file, that one stays.
 */
export type ConflictSide = 'theirs' | 'ours' | 'both';
/** Overwritten local files that no commit has. They stay in the workspace's bin for 30 days. */
export interface KeptTotals {
  /** For `dray kept restore`. */
  readonly id: string;
  readonly files: number;
  readonly bytes: number;
}
/** A local file that was kept under a second name. */
export interface MadeCopy {
  readonly path: string;
  readonly copy: string;
}

/** What a pull did, or in a dry run would do. */
export interface PullSummary {
  readonly result: 'pulled' | 'upToDate' | 'wouldPull';
  readonly workspace: string;
  readonly branch: string;
  readonly commit: string | null;
  readonly changes: ChangeTotals;
  readonly downloadedBytes: number;
  /** Paths that `--ours`, `--theirs` or `--both` decided. */
  readonly decided: number;
  readonly kept?: KeptTotals;
  /** By `--both`: the first 100. */
  readonly copies?: readonly MadeCopy[];
  readonly failed: number;
  readonly requests: RequestTotals;
  /** Of a run that did not bring everything: `commit` is the base still, the files that came are here. */
  readonly arriving?: ArrivingCommit;
  /** Of `pull REF`: the workspace shows that version now. */
  readonly detached?: DetachedAt;
}

export interface LogRequest {
  readonly ref?: string;
  /** Only commits that changed this path, relative to `context.directory`. */
  readonly path?: string;
  /** Use `ref` as a path if no ref has this name. */
  readonly isPerhapsPath?: boolean;
  readonly limit?: number;
}
export interface LogSummary {
  readonly commits: number;
  /** Set if there are older commits that the command did not read. */
  readonly isMore: boolean;
  /** Of the branch's own log: the workspace shows another version. */
  readonly detached?: DetachedAt;
}

/** The request of `branch` and `tag`. */
export interface RefRequest {
  /** Absent: list. */
  readonly name?: string;
  /** The commit to name. Default: the workspace's. */
  readonly ref?: string;
  readonly remove?: boolean;
  /** The new name. */
  readonly rename?: string;
  /** Move an existing branch or tag. */
  readonly force?: boolean;
  /** For a move, a rename or a removal: fail with `conflict` unless it has this commit. */
  readonly at?: string;
}
export interface RefSummary {
  readonly result: 'listed' | 'created' | 'moved' | 'renamed' | 'removed';
  readonly refs: number;
  /** Of a branch or tag that was moved: the commit that it had. */
  readonly previous?: string;
}

export interface SwitchRequest {
  readonly name: string;
  /** Create the branch at the current commit first. */
  readonly create?: boolean;
  /** Only report the changes, or fail as the switch would. */
  readonly dryRun?: boolean;
}

export interface RestoreRequest {
  /** Relative to `context.directory`; a folder restores all below it. */
  readonly paths: readonly string[];
  /** Default: the base commit. */
  readonly from?: string;
  /** Write nothing and fail with `conflict` when a file to overwrite changed here since the last push. */
  readonly keepsChanges?: boolean;
  /** Also remove what the commit lacks at these paths. Ignored files stay. */
  readonly exact?: boolean;
}
export interface RestorePlan {
  /** Files that differ from the commit and would be written. */
  readonly files: number;
  readonly bytes: number;
  /** The part of these that changed here since the last push; those changes would be lost. */
  readonly changed: number;
  /** The first of the changed ones. */
  readonly changedPaths: readonly string[];
  /** With `exact`: paths that would be removed, and the first of these. */
  readonly removed?: number;
  readonly removedPaths?: readonly string[];
}
export interface RestoreSummary {
  readonly restored: number;
  /** With `exact`. */
  readonly removed?: number;
  readonly bytes: number;
  readonly failed: number;
  readonly kept?: KeptTotals;
}

export interface VerifyRequest {
  readonly ref?: string;
  /** 0 to 100: how much of the stored data to read and hash; absent: existence and sizes only. */
  readonly readDataPercent?: number;
  /** Reads and hashes a bounded part of the stored data instead. */
  readonly sample?: VerifySample;
}
/** Which objects and packs to read. Parts are cut by names, so all parts together are everything. */
export type VerifySample =
  /** Another part of `SAMPLE_DAYS` on each day. */
  | { readonly kind: 'today' }
  /** @field part From 1. */
  | { readonly kind: 'part'; readonly part: number; readonly of: number }
  | { readonly kind: 'objects'; readonly count: number }
  /** Objects of at most so many bytes together, but at least one. */
  | { readonly kind: 'bytes'; readonly bytes: number };
/** In so many days the parts of `today` have covered everything that is stored. */
export const SAMPLE_DAYS = 30;
export interface VerifySummary {
  readonly commits: number;
  /** Commits whose content was left out, because a retention policy has forgotten them. */
  readonly forgotten: number;
  readonly files: number;
  readonly objects: number;
  /** The size of the objects, as stored. */
  readonly storedBytes: number;
  /** Objects that were read and hashed. */
  readonly readObjects: number;
  readonly readBytes: number;
  /** The part that was read, such as `3/30`. */
  readonly sample?: string;
  readonly missing: number;
  readonly damaged: number;
  /** Paths (of the verified commits) that cannot be had whole. */
  readonly affectedPaths: number;
  readonly requests: RequestTotals;
}

/** Which commits stay, in restic's words (`model/retention-policy.ts`). At least one rule. */
export interface RetentionPolicy {
  readonly keepLast?: number;
  /** Of each of the last so many days, ISO weeks and months (UTC) that have a commit: the newest one. */
  readonly keepDaily?: number;
  readonly keepWeekly?: number;
  readonly keepMonthly?: number;
  /** Such as `30d` or `1y6m`: what is newer than that, counted from the newest commit. */
  readonly keepWithin?: string;
  /** Patterns of tags. */
  readonly keepTags?: readonly string[];
}

export interface ForgetRequest {
  /** Default: the policy that is kept with the repository. */
  readonly policy?: RetentionPolicy;
  /** Patterns of tags to remove, except those that the policy's `keepTags` match. */
  readonly tags?: readonly string[];
  /** Keep the policy with the repository. */
  readonly save?: boolean;
  /** Fail with `conflict` if this run would forget another number of commits. */
  readonly expected?: number;
  readonly dryRun?: boolean;
}
export interface ForgetSummary {
  readonly result: 'forgot' | 'nothingToForget' | 'wouldForget';
  readonly policy: RetentionPolicy;
  /** This run keeps the policy with the repository. */
  readonly saved: boolean;
  /** Commits that stay and commits that this run forgot, or would. */
  readonly stay: number;
  readonly forgotten: number;
  /** Tags that this run removed, or would. */
  readonly removedTags: readonly string[];
  readonly requests: RequestTotals;
}

export interface CollectRequest {
  /** Writes and removes nothing. */
  readonly dryRun?: boolean;
  /** Younger objects stay, in seconds; default a day. It spares running pushes a second upload. */
  readonly graceSeconds?: number;
}
export interface CollectSummary {
  readonly result: 'collected' | 'nothingToCollect' | 'wouldCollect';
  /** Collections of the repository up to now. */
  readonly round: number;
  /** Commits whose content is kept. */
  readonly commits: number;
  readonly forgottenCommits: number;
  /** Everything on the store that commits may name, before the collection. */
  readonly objects: number;
  readonly bytes: number;
  /** In a dry run: what a collection would remove now. Bytes that are written anew do not count. */
  readonly removedObjects: number;
  readonly removedBytes: number;
  /** Needed by no commit, but younger than the grace. */
  readonly youngObjects: number;
  readonly youngBytes: number;
  /** Packs that were written anew (a dry run: would be), and what that frees: a part of `removedBytes`. */
  readonly repackedPacks: number;
  readonly repackedBytes: number;
  /** A collection that somebody else began was ended. */
  readonly continued: boolean;
  /** By list prices; absent for an unknown provider. */
  readonly savedDollarsPerMonth?: number;
  readonly requests: RequestTotals;
  /** Dry run: the requests of a collection. */
  readonly forecast?: RequestTotals;
}

export interface RemoteAddRequest {
  /** For this user, in every folder, instead of for the workspace. */
  readonly user?: boolean;
  readonly name: string;
  readonly url: string;
}
export interface RemoteTestRequest {
  /**
   * A URL, or the name of one of the workspace's remotes or of the user's own. Default: the remote that a
   * push goes to.
   */
  readonly target?: string;
}
export interface RemoteTestSummary {
  readonly url: string;
  readonly ok: number;
  readonly failed: number;
  readonly warnings: number;
  readonly safeForTwoWriters: boolean;
  readonly latencyMs: number;
}

export interface ConfigRequest {
  /** Absent: list all. */
  readonly name?: string;
  /** Absent: print. Null: remove. */
  readonly value?: string | null;
}
