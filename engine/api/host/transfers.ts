/** The requests for the queue of transfers. */
import type { ErrorCode, ErrorRecord } from '../error.ts';
import type { CollectSummary, ConflictSide, PullSummary, PushSummary, RequestTotals } from '../jobs/jobs.ts';
import type { PendingMerge } from '../jobs/pending-merge.ts';
import type { MissingSecret } from '../text/missing-keys.ts';
import type { Nothing } from './in-workspace.ts';

export interface TransfersRequests {
  'transfers.start': { input: TransferOrder; answer: { readonly id: string } };
  /** Sends `transfers` events until it is stopped; never answers. */
  'transfers.watch': { input: Nothing; answer: Nothing };
  'transfers.change': {
    input: {
      readonly ids: readonly string[] | 'all';
      /** `putBack` undoes `remove` while the engine runs. */
      readonly action:
        | 'pause'
        | 'resume'
        | 'cancel'
        | 'retry'
        | 'pushEmptied'
        | 'remove'
        | 'putBack'
        | 'up'
        | 'down';
    };
    /** The ids that `remove` has removed. */
    answer: { readonly removed?: readonly string[] };
  };

  /** The last 50 requests of the transfer's last run, newest first. Empty after a restart of the engine. */
  'transfers.calls': {
    input: { readonly id: string };
    answer: { readonly calls: readonly TransferCall[] };
  };

  /** The failed files of one transfer, in the order of failure: the first 1,000. */
  'transfers.failures': {
    input: { readonly id: string };
    answer: { readonly failures: readonly TransferFailure[] };
  };
}

export type TransferOrder =
  | {
      /** Also continues an unfinished clone of this URL in this folder. */
      readonly kind: 'clone';
      readonly url: string;
      readonly root: string;
      /** Default: the repository's main or only branch. */
      readonly ref?: string;
      /** Patterns of the part to clone. Default: everything. */
      readonly only?: readonly string[];
    }
  | {
      readonly kind: 'push';
      readonly root: string;
      readonly message?: string;
      /**
       * Paths that keep their state of the base; one that ends in a slash includes all below it. For a
       * rename, name both paths.
       */
      readonly skip?: readonly string[];
      /** Pushes also if many files have become empty, which is usually an accident. */
      readonly allowEmptied?: boolean;
    }
  | {
      readonly kind: 'pull';
      readonly root: string;
      readonly ref?: string;
      readonly conflicts?: 'stop' | ConflictSide;
      /** Conflicting paths with a decision other than `conflicts`. */
      readonly decisions?: Readonly<Record<string, ConflictSide>>;
    }
  | {
      readonly kind: 'restore';
      readonly root: string;
      readonly paths: readonly string[];
      readonly from?: string;
      /** Fails with `conflict` instead of overwriting files that changed here since the last push. */
      readonly keepsChanges?: boolean;
    }
  /** Changes which part the workspace holds. Null: everything. What was not pushed stays. */
  | { readonly kind: 'scope'; readonly root: string; readonly only: readonly string[] | null }
  | { readonly kind: 'switch'; readonly root: string; readonly branch: string }
  /** What the branch, tag or commit changed comes into the folder, and the next push records it. */
  | ({ readonly kind: 'merge' } & MergeOrder)
  /** What the commit changed is taken back in the folder, and the next push records it. */
  | ({
      readonly kind: 'revert';
      /** Of a merge: the parent that is kept. Counts from 1. */
      readonly parent?: number;
    } & MergeOrder)
  /** Takes back a merge or a revert that is not pushed yet. What changed here since stays. */
  | { readonly kind: 'abortMerge'; readonly root: string; readonly of: PendingMerge['kind'] }
  /** Checks existence and sizes of all that the remote's commits need. Fails with `damaged` if any is bad. */
  | { readonly kind: 'verify'; readonly root: string }
  /** Puts back on the remote what this workspace still has. Fails with `damaged` if something is left. */
  | { readonly kind: 'repair'; readonly root: string }
  /** Removes from the remote what no commit needs. A stopped one goes on with the next, by anybody. */
  | { readonly kind: 'gc'; readonly root: string; readonly graceSeconds?: number }
  | {
      readonly kind: 'copy';
      readonly source: string;
      readonly destination: string;
      /** Only these files of the folder `source`. */
      readonly names?: readonly string[];
      /** Only files and whole folders of `source` with this text in their names, ignoring case. */
      readonly filter?: string;
      /** Paths to skip. Those of folders end in a slash. */
      readonly except?: readonly string[];
      /** The repositories whose stored objects it may change. Any other makes it fail with `conflict`. */
      readonly confirmed?: readonly string[];
    }
  | {
      readonly kind: 'sync';
      readonly source: string;
      readonly destination: string;
      /** The number of deletions that the user saw in the plan; default: the engine's own bound. */
      readonly maxDelete?: number;
      /** Like that of a copy. */
      readonly confirmed?: readonly string[];
    };

interface MergeOrder {
  readonly root: string;
  /** A branch, a tag or a commit. */
  readonly ref: string;
  readonly conflicts?: ConflictSide;
  /** Conflicting paths with a decision other than `conflicts`. */
  readonly decisions?: Readonly<Record<string, ConflictSide>>;
}

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
  readonly summary?: PushSummary | PullSummary | CollectSummary | object;
  /** The reason why a waiting transfer has not started. */
  readonly waitsFor?: string;
  /** Why the transfer waits. Cleared when the cause has passed. */
  readonly notice?: string;
  /** Set if it waits for keys of a store, or for a password. */
  readonly needs?: MissingSecret;
  /** Set if no byte has moved for ten seconds or longer. */
  readonly stall?: TransferStall;
  readonly warnings: readonly string[];
  /** Failed files that did not stop the others; `transfers.failures` lists them. */
  readonly failed: number;
  readonly error?: ErrorRecord;
}

/** One attempt of a request to a remote. */
export interface TransferCall {
  /** The name in a server's log, such as `PUT PART`. */
  readonly method: string;
  /** At most 200 characters. */
  readonly key: string;
  readonly startedMs: number;
  readonly endedMs?: number;
  readonly failure?: ErrorCode;
  /** The number of failed attempts at the same request before this one. */
  readonly retries: number;
}

/** `isOpen`: the request waits for its answer. Otherwise it failed and will be retried. */
export type StalledCall = TransferCall & { readonly isOpen: boolean };

export interface TransferStall {
  /** The time of the last movement. */
  readonly sinceMs: number;
  /** Absent if no request is open, so this computer is working. */
  readonly call?: StalledCall;
}

export interface TransferFailure {
  readonly path: string;
  readonly message: string;
}
