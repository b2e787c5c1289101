/** What hosts ask of the engine: one request and one summary for each job. Isomorphic and JSON-safe. */
import type { JobEvent, QueryExplanation, QueryMode } from './events.ts';

/** What every job is given. */
export interface JobContext {
  /** Where the command runs: the workspace is this folder or the nearest one above it. */
  readonly directory: string;
  /** Which of the workspace's remotes; the default one when absent. */
  readonly remoteName?: string;
  /** Flags that win over the URL's silence; see `remotes/remote-url.ts` for the order. */
  readonly connection: ConnectionFlags;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * The URLs of the request were typed on this command line, so the token of the environment may go there, and they may name a token
   * file. Never true for a URL that a page, a link or a settings file gave.
   */
  readonly isTyped?: boolean;
  /** Says whether to trust a peer that this machine has not connected to before. Dray calls it before it sends anything. Without it, Dray trusts no new peer. */
  readonly trustsNewPeer?: (peer: MetPeer) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly emit: (event: JobEvent) => void;
  /**
   * Undefined while whoever takes the events keeps up; else resolves once they do. A job that tells of each of many things waits for
   * it between them, so that what nobody has read yet does not pile up in memory.
   */
  readonly drained?: () => Promise<void> | undefined;
  /** Bounds the content that jobs move, all that have the same one together. */
  readonly throttle?: Throttle;
  /** For `copy - OBJECT`. */
  readonly standardInput?: AsyncIterable<Uint8Array>;
  /** For `cat` and `copy OBJECT -`; resolves when more may come. */
  readonly standardOutput?: (chunk: Uint8Array) => Promise<void>;
}

/** A peer at its first meeting: a person compares the fingerprint with what `dray serve` shows. */
export interface MetPeer {
  /** `HOST:PORT`. */
  readonly address: string;
  /** Of its certificate: SHA-256 in hex pairs with colons. */
  readonly fingerprint: string;
}

export interface Throttle {
  /** Resolves when that many bytes may go, in the order of the calls. */
  take(bytes: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Requests in flight that may be asked for. */
export const TRANSFERS_MAX = 1024;

export interface ConnectionFlags {
  readonly endpoint?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly pathStyle?: boolean;
  /** Requests are not signed: for buckets that answer everybody. */
  readonly anonymous?: boolean;
  /** Requests in flight, `TRANSFERS_MAX` at most; adaptive when absent. */
  readonly transfers?: number;
  /** Of the content that this connection moves, both ways together; unlimited when absent. */
  readonly bandwidthBytesPerSecond?: number;
  /** `auto` (the lean path where it serves) or `sdk` (all through the AWS SDK). For tests and diagnosis. */
  readonly client?: 'auto' | 'sdk';
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

export interface ChangeTotals {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  readonly renamed: number;
  readonly mode: number;
  /** Bytes of what was added or modified. */
  readonly bytes: number;
}

export interface InitRequest {
  /** A relative path is taken from `relativeTo`, by default the folder that becomes the workspace. */
  readonly remoteUrl: string;
  readonly relativeTo?: string;
  readonly remoteName?: string;
  readonly branch?: string;
  readonly layout?: {
    readonly kind?: 'packs' | 'objects';
    readonly packBelow?: number;
    readonly chunkAbove?: number;
  };
}
export interface InitSummary {
  readonly workspace: string;
  readonly remoteUrl: string;
  readonly repositoryId: string;
  /** False when the URL held a repository already and the workspace joined it. */
  readonly created: boolean;
  readonly branch: string;
}

export interface CloneRequest {
  readonly url: string;
  /** Default: the last part of the URL. */
  readonly directory?: string;
  readonly ref?: string;
}

export interface StatusRequest {
  readonly remote?: boolean;
}
export interface StatusSummary {
  readonly branch: string;
  /** Null before the first push. */
  readonly commit: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly changes: ChangeTotals;
  readonly failed: number;
  /** With `remote`: how the branch stands to the remote's. Ahead counts local changes as one commit to come. */
  readonly upstream?: {
    readonly state: 'same' | 'behind' | 'diverged' | 'absent';
    readonly commit: string | null;
    readonly changes: ChangeTotals;
  };
}

export interface DiffRequest {
  /** Refs or commits; both absent: the base commit against the workspace; one: it against the workspace. */
  readonly from?: string;
  readonly to?: string;
}
export interface DiffSummary {
  readonly from: string;
  readonly to: string;
  readonly changes: ChangeTotals;
}

export interface PushRequest {
  readonly message?: string;
  readonly dryRun?: boolean;
  readonly query?: QueryMode;
  /** Ask the remote again instead of trusting the index. */
  readonly noIndex?: boolean;
  /** Paths whose changes are not pushed: they stay as the base has them. One that ends in a slash: all below. Not with `noIndex`. */
  readonly skip?: readonly string[];
  /** Also where many files have become empty. */
  readonly allowEmptied?: boolean;
}
export interface PushSummary {
  readonly result: 'pushed' | 'nothingToPush' | 'wouldPush';
  readonly branch: string;
  /** The branch's commit now. */
  readonly commit: string | null;
  /** Set when another's commit was merged on the way. */
  readonly mergedWith?: string;
  readonly changes: ChangeTotals;
  /** Of a dry run: what it would send. */
  readonly uploadedObjects: number;
  readonly uploadedBytes: number;
  readonly failed: number;
  readonly query: QueryExplanation;
  /** What this run asked; of a dry run, what finding out took. */
  readonly requests: RequestTotals;
  /** Of a dry run: what the push will ask and send, as far as it can be foreseen. */
  readonly forecast?: RequestTotals;
}

export interface PullRequest {
  /** Default: the current branch. */
  readonly ref?: string;
  readonly dryRun?: boolean;
  readonly conflicts?: 'stop' | 'theirs' | 'ours';
  /** Conflicting paths that are decided otherwise than `conflicts` says. */
  readonly decisions?: Readonly<Record<string, 'theirs' | 'ours'>>;
}
export interface PullSummary {
  readonly result: 'pulled' | 'upToDate' | 'wouldPull';
  readonly workspace: string;
  readonly branch: string;
  readonly commit: string | null;
  readonly changes: ChangeTotals;
  readonly downloadedBytes: number;
  /** Paths where `--ours` or `--theirs` decided. */
  readonly decided: number;
  readonly failed: number;
  readonly requests: RequestTotals;
}

export interface LogRequest {
  readonly ref?: string;
  readonly limit?: number;
}
export interface LogSummary {
  readonly commits: number;
}

export interface TagRequest {
  /** Absent: list. */
  readonly name?: string;
  readonly ref?: string;
  readonly remove?: boolean;
  /** Move an existing tag. */
  readonly force?: boolean;
}
export interface BranchRequest {
  /** Absent: list. */
  readonly name?: string;
  readonly remove?: boolean;
}
export interface RefSummary {
  readonly result: 'listed' | 'created' | 'moved' | 'removed';
  readonly refs: number;
}

export interface SwitchRequest {
  readonly name: string;
  /** Make the branch at the current commit first. */
  readonly create?: boolean;
}

export interface RestoreRequest {
  /** Relative to `context.directory`; a folder restores all below it. */
  readonly paths: readonly string[];
  /** Default: the base commit. */
  readonly from?: string;
  /** What changed here since the last push is not written over: then nothing is written, and it fails with `conflict`. */
  readonly keepsChanges?: boolean;
}
export interface RestorePlan {
  /** What differs from the commit and would be written. */
  readonly files: number;
  readonly bytes: number;
  /** Of these, what changed here since the last push, and would be lost. */
  readonly changed: number;
  /** The first of the changed ones. */
  readonly changedPaths: readonly string[];
}
export interface RestoreSummary {
  readonly restored: number;
  readonly bytes: number;
  readonly failed: number;
}

export interface ReadCommittedRequest {
  /** A branch, a tag or a commit; `@`: the base. */
  readonly from: string;
  /** Relative to `context.directory`. */
  readonly path: string;
  /** The first bytes alone, or those from an offset. */
  readonly offsetBytes?: number;
  readonly lengthBytes?: number;
}

export interface VerifyRequest {
  readonly ref?: string;
  /** 0 to 100: how much of the stored data to read and hash; absent: existence and sizes only. */
  readonly readDataPercent?: number;
}
export interface VerifySummary {
  readonly commits: number;
  readonly files: number;
  readonly objects: number;
  readonly readBytes: number;
  readonly missing: number;
  readonly damaged: number;
  /** Paths (of the verified commits) that cannot be had whole. */
  readonly affectedPaths: number;
  readonly requests: RequestTotals;
}

export interface ListTreeRequest {
  readonly ref?: string;
  readonly path?: string;
  readonly recursive?: boolean;
}
export interface ListTreeSummary {
  readonly commit: string;
  readonly entries: number;
  readonly bytes: number;
}

export interface RemoteAddRequest {
  /** For this user, in every folder, instead of for the workspace. */
  readonly user?: boolean;
  readonly name: string;
  readonly url: string;
}
export interface RemoteTestRequest {
  /** A URL, or the name of one of the workspace's remotes or of the user's own. Default: the remote that a push goes to. */
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
