/** What a running job tells its host. Isomorphic and JSON-safe: `--json` prints these objects, one a line. */
import type { ErrorRecord } from './error.ts';

export type JobEvent =
  | PhaseEvent
  | ProgressEvent
  | ChangeEvent
  | ConflictEvent
  | WarningEvent
  | FileFailedEvent
  | PlanEvent
  | CommitEvent
  | EntryEvent
  | RefEvent
  | CheckEvent
  | RemoteEvent
  | SettingEvent;

export type Phase = 'scan' | 'hash' | 'query' | 'upload' | 'download' | 'write' | 'commit' | 'verify';

export interface PhaseEvent {
  readonly type: 'phase';
  readonly phase: Phase;
}

/** Counts since the phase began; totals where they are known. Hosts compute rate and ETA. */
export interface ProgressEvent {
  readonly type: 'progress';
  readonly phase: Phase;
  readonly filesDone: number;
  readonly filesTotal?: number;
  readonly bytesDone: number;
  readonly bytesTotal?: number;
  readonly requests: number;
}

export type ChangeKind = 'added' | 'modified' | 'deleted' | 'renamed' | 'mode';

/** One path that differs. For `renamed`, `path` is the new one. `mode`: only the executable bit. */
export interface ChangeEvent {
  readonly type: 'change';
  readonly change: ChangeKind;
  readonly path: string;
  readonly fromPath?: string;
  readonly kind: 'file' | 'link' | 'folder';
  /** The new size, or for `deleted` the old one. */
  readonly sizeBytes: number;
}

export interface ConflictEvent {
  readonly type: 'conflict';
  readonly path: string;
  readonly ours: 'added' | 'modified' | 'deleted';
  readonly theirs: 'added' | 'modified' | 'deleted';
}

export interface WarningEvent {
  readonly type: 'warning';
  /** Such as `unsafeForTwoWriters`, `indexRebuilt`, `skippedSpecialFile`, `nameCollision`, `waitingForLock`. */
  readonly warning: string;
  readonly message: string;
  readonly path?: string;
}

/** One file failed and the job went on; the command ends with exit code 4. */
export interface FileFailedEvent {
  readonly type: 'fileFailed';
  readonly path: string;
  readonly error: ErrorRecord;
}

/** How the existence question was answered, for `--explain`. Told once, at the end of a push. */
export interface PlanEvent {
  readonly type: 'plan';
  readonly query: QueryExplanation;
}

export type QueryMode = 'each' | 'list' | 'auto';

export interface QueryExplanation {
  readonly mode: QueryMode;
  /** Blobs that the push needs, before anything was left out. */
  readonly wanted: number;
  /** Left out because the index knows them to be on the remote. */
  readonly removedByIndex: number;
  /** What had to be asked. */
  readonly candidates: number;
  /** Objects on the remote: the estimate and its 95 % interval. Absent when nothing was sampled or remembered. */
  readonly remoteObjects?: {
    readonly estimate: number;
    readonly low: number;
    readonly high: number;
    readonly from: 'sample' | 'remembered' | 'known';
  };
  readonly sampledPrefixes: number;
  readonly each: QueryCost;
  readonly list: QueryCost;
  readonly breakEvenObjects: number;
  readonly chosen: 'none' | 'each' | 'list';
  /** One sentence for people. */
  readonly reason: string;
  readonly actual?: QueryCost & { readonly present: number; readonly absent: number };
}

export interface QueryCost {
  readonly requests: number;
  readonly seconds: number;
  readonly dollars: number;
}

export interface CommitEvent {
  readonly type: 'commit';
  readonly commit: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly message: string;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly files: number;
  readonly bytes: number;
  /** Branches and tags that name it. */
  readonly refs: readonly string[];
}

/** A line of `ls`. */
export interface EntryEvent {
  readonly type: 'entry';
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder';
  readonly sizeBytes: number;
  readonly mtime?: string;
  readonly executable?: boolean;
  readonly blob?: string;
  readonly target?: string;
}

/** A line of `branch` or `tag`. */
export interface RefEvent {
  readonly type: 'ref';
  readonly name: string;
  readonly commit: string;
  readonly current: boolean;
}

/** A line of `remote test` or `verify`. */
export interface CheckEvent {
  readonly type: 'check';
  readonly check: string;
  readonly result: 'ok' | 'failed' | 'warning' | 'notSupported';
  readonly detail: string;
  readonly paths?: readonly string[];
}

/** A line of `remote list`. */
export interface RemoteEvent {
  readonly type: 'remote';
  readonly name: string;
  readonly url: string;
  readonly isDefault: boolean;
}

/** A line of `config`. */
export interface SettingEvent {
  readonly type: 'setting';
  readonly name: string;
  readonly value: string;
}
