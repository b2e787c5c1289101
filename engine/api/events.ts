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
  | RemoteUsedEvent
  | SettingEvent
  | ComparedEvent
  | LookupEvent
  | UsageEvent
  | UploadEvent
  | ServingEvent
  | WindowEvent;

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
  /** The totals are what was found so far: there may be more to do. */
  readonly isCounting?: boolean;
  /** Of `bytesDone`: what was there already, such as the parts that an interrupted run had sent. They say nothing of the pace. */
  readonly bytesKept?: number;
  readonly requests: number;
  /** Bytes that went over the wire in this run, either way, as they go: what is half there is in it, and what was sent twice. */
  readonly wireBytes?: number;
  /** Requests in flight to the remotes at this moment. Absent where none is asked anything. */
  readonly inFlight?: number;
  /** How many there may be, as the engine adapts it to the link. */
  readonly inFlightMax?: number;
}

export type ChangeKind = 'added' | 'modified' | 'deleted' | 'renamed' | 'mode' | 'time';

/** One path that differs. For `renamed`, `path` is the new one. `mode`: only the executable bit; `time`: only the modification time. */
export interface ChangeEvent {
  readonly type: 'change';
  readonly change: ChangeKind;
  readonly path: string;
  readonly fromPath?: string;
  readonly kind: 'file' | 'link' | 'folder';
  /** The new size, or for `deleted` the old one. */
  readonly sizeBytes: number;
  /** Of a modified file: the size that it had. */
  readonly oldSizeBytes?: number;
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
  /** The error with which a check of a remote failed. */
  readonly error?: ErrorRecord;
}

/** A line of `remote list`. */
export interface RemoteEvent {
  readonly type: 'remote';
  readonly name: string;
  readonly url: string;
  readonly isDefault: boolean;
}

/** Says in which settings a remote's name was found. */
export interface RemoteUsedEvent {
  readonly type: 'remoteUsed';
  readonly name: string;
  readonly url: string;
  /** The settings file. */
  readonly keptIn: string;
}

/** A line of `config`. */
export interface SettingEvent {
  readonly type: 'setting';
  readonly name: string;
  readonly value: string;
}

/** What `check` found of one path, and by what it was compared. */
export interface ComparedEvent {
  readonly type: 'compared';
  readonly path: string;
  readonly result: 'same' | 'differs' | 'onlyInSource' | 'onlyInDestination' | 'uncertain';
  readonly by: ComparedBy;
  readonly sizeBytes: number;
  /** The first byte that is another one, where both sides were read. */
  readonly differsAt?: number;
}

/** `sizes`: they differ, or nothing else could be compared; `md5OfParts`: an etag of S3's multipart form. */
export type ComparedBy =
  | 'sizes'
  | 'crc64nvme'
  | 'crc32'
  | 'sha256'
  | 'md5'
  | 'md5OfParts'
  | 'content'
  | 'presence';

/** How the destination of a copy was looked at, for `--explain`. Told once, at the end. */
export interface LookupEvent {
  readonly type: 'lookup';
  readonly lookup: LookupExplanation;
}

export interface LookupExplanation {
  /** `none`: not at all; `each`: a HEAD for each file; `list`: all of it; `leapfrog`: pages around the source's files; `scan`: a local folder. */
  readonly chosen: 'none' | 'each' | 'list' | 'leapfrog' | 'scan';
  readonly reason: string;
  readonly sourceFiles: number;
  readonly destinationSeen: number;
  readonly lists: number;
  readonly heads: number;
  /** Decided by the index, without a look at content or metadata. */
  readonly decidedByIndex: number;
  /** Decided by the local file's MD5 against the listing's etag, and by a HEAD. */
  readonly decidedByHash: number;
  readonly decidedByHead: number;
  /** Objects whose age `--newer` or `--older` wanted: asked by a HEAD each, and remembered from an earlier run. */
  readonly timesAsked: number;
  readonly timesRemembered: number;
}

/** A line of `du`. */
export interface UsageEvent {
  readonly type: 'usage';
  /** '' for the whole place; folders end in `/`. */
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

/** A line of `uploads list`. */
export interface UploadEvent {
  readonly type: 'upload';
  readonly path: string;
  readonly uploadId: string;
  /** RFC 3339, UTC. */
  readonly started: string;
  readonly parts: number;
  readonly bytes: number;
}

/** Told once, when requests are answered. */
export interface ServingEvent {
  readonly type: 'serving';
  readonly folder: string;
  /** `dray://HOST:PORT`, as clients write it. */
  readonly url: string;
  readonly isReadOnly: boolean;
  /** SHA-256 of the certificate in hex with colons; absent without TLS. */
  readonly fingerprint?: string;
  /** Only a token that this run made: nobody could know it otherwise. */
  readonly token?: string;
}

/** Told when the window can be opened, and anew for each further link. */
export interface WindowEvent {
  readonly type: 'window';
  /** Opens one browser, once. */
  readonly url: string;
  readonly port: number;
}
