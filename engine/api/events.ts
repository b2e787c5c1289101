/**
 * The events that a running job sends to its host. Isomorphic and JSON-safe: `--json` prints one object per
 * line.
 */
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
  | RetentionEvent
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
  | GatewayEvent
  | GatewayAnswerEvent
  | WindowEvent
  | SavedJobEvent
  | JobRunEvent
  | JobLogEvent
  | WatchEvent
  | FleetWorkerEvent
  | FleetStepEvent;

/** A part of a job, in the order of the work in it. */
export type Phase =
  | 'scan'
  | 'hash'
  | 'query'
  | 'upload'
  | 'download'
  | 'write'
  | 'remove'
  | 'commit'
  | 'verify'
  | 'mark';

/** A phase begins. */
export interface PhaseEvent {
  readonly type: 'phase';
  readonly phase: Phase;
}

/** Counts since the phase began, with totals where they are known. Hosts compute rate and ETA. */
export interface ProgressEvent {
  readonly type: 'progress';
  readonly phase: Phase;
  readonly filesDone: number;
  readonly filesTotal?: number;
  readonly bytesDone: number;
  readonly bytesTotal?: number;
  /** The totals are still growing: the search for work has not finished. */
  readonly isCounting?: boolean;
  /**
   * The part of `bytesDone` that existed before this run, such as parts sent by an interrupted run. Rates
   * leave it out.
   */
  readonly bytesKept?: number;
  readonly requests: number;
  /** Bytes on the wire in this run, both ways, including unfinished and repeated transfers. */
  readonly wireBytes?: number;
  /** Requests in flight to the remotes. Absent when the job uses no remote. */
  readonly inFlight?: number;
  /** The current limit of requests in flight, which the engine adapts to the link. */
  readonly inFlightMax?: number;
  /** At most four files that are moved or read now. `bytesDone` is 0 for a file in a single request. */
  readonly underWay?: readonly FileUnderWay[];
}

/** A file that is read or moved now. */
export interface FileUnderWay {
  readonly path: string;
  readonly bytesDone: number;
  readonly sizeBytes: number;
}

/** How a path differs; see `ChangeEvent`. */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'renamed' | 'mode' | 'time';

/**
 * One path that differs. `renamed`: `path` is the new one. `mode`: only the executable bit differs; `time`:
 * only the modification time.
 */
export interface ChangeEvent {
  readonly type: 'change';
  readonly change: ChangeKind;
  readonly path: string;
  readonly fromPath?: string;
  readonly kind: 'file' | 'link' | 'folder';
  /** The new size; for `deleted`, the old one. */
  readonly sizeBytes: number;
  /** The previous size of a modified file. */
  readonly oldSizeBytes?: number;
}

/** A path that this side and the other one changed, each in its way. */
export interface ConflictEvent {
  readonly type: 'conflict';
  readonly path: string;
  readonly ours: 'added' | 'modified' | 'deleted';
  readonly theirs: 'added' | 'modified' | 'deleted';
}

/** Something that the job went on with. `warning` names it for programs, `message` for people. */
export interface WarningEvent {
  readonly type: 'warning';
  /**
   * Such as `unsafeForTwoWriters`, `indexRebuilt`, `skippedSpecialFile`, `nameCollision`, `waitingForLock`.
   */
  readonly warning: string;
  readonly message: string;
  /** The last sentence of the message, if it applies to a command line only. A window removes it. */
  readonly advice?: string;
  readonly path?: string;
}

/** One file failed and the job continued. The command ends with exit code 4. */
export interface FileFailedEvent {
  readonly type: 'fileFailed';
  readonly path: string;
  readonly error: ErrorRecord;
}

/** How the existence query was answered, for `--explain`. Sent once, at the end of a push. */
export interface PlanEvent {
  readonly type: 'plan';
  readonly query: QueryExplanation;
}

/** How a push finds out what the store has: a request for each object, a listing, or the cheaper of both. */
export type QueryMode = 'each' | 'list' | 'auto';

/** How a push found out which objects the store has, and what the ways would have cost. */
export interface QueryExplanation {
  readonly mode: QueryMode;
  /** Blobs that the push needs, before any are excluded. */
  readonly wanted: number;
  /** Excluded because the index knows that the remote has them. */
  readonly removedByIndex: number;
  /** Blobs that the query had to ask about. */
  readonly candidates: number;
  /**
   * The estimated number of objects on the remote with its 95 % interval. Absent when nothing was sampled or
   * remembered.
   */
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
  /** One sentence for users. */
  readonly reason: string;
  readonly actual?: QueryCost & { readonly present: number; readonly absent: number };
}

/** What it costs to ask the store in one way: an estimate, or what it was. */
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
  /** Branches and tags that point to it. */
  readonly refs: readonly string[];
  /** A retention policy has forgotten it: its files can no longer be read. */
  readonly isForgotten?: true;
  /** In the history of a path: the commit's change of the path. */
  readonly change?: 'added' | 'modified' | 'deleted' | 'mode';
  /** In the history of a file: its size in this commit, or before its deletion. */
  readonly sizeBytes?: number;
}

/** A commit that `forget` decided about. */
export interface RetentionEvent {
  readonly type: 'retention';
  readonly commit: string;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly message: string;
  readonly files: number;
  readonly bytes: number;
  /** Why it stays. Empty: it is forgotten. */
  readonly keptBy: readonly KeepReason[];
}

/** `ref`: a branch or a tag names the commit. */
export type KeepRule = 'last' | 'daily' | 'weekly' | 'monthly' | 'within' | 'tag' | 'ref';

export interface KeepReason {
  readonly rule: KeepRule;
  /** The branch whose history the rule was applied to; for `ref`, the branch or `tag: NAME`. */
  readonly ref: string;
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
  /** Why a check of a remote failed. */
  readonly error?: ErrorRecord;
}

/** A line of `remote list`. */
export interface RemoteEvent {
  readonly type: 'remote';
  readonly name: string;
  readonly url: string;
  readonly isDefault: boolean;
}

/** Names the settings that define the remote. */
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

/** The result of `check` for one path, and the evidence. */
export interface ComparedEvent {
  readonly type: 'compared';
  readonly path: string;
  readonly result: 'same' | 'differs' | 'onlyInSource' | 'onlyInDestination' | 'uncertain';
  readonly by: ComparedBy;
  readonly sizeBytes: number;
  /** The offset of the first differing byte, where both sides were read. */
  readonly differsAt?: number;
}

/** `sizes`: sizes differ, or nothing else was comparable. `md5OfParts`: an etag of S3's multipart form. */
export type ComparedBy =
  | 'sizes'
  | 'crc64nvme'
  | 'crc32'
  | 'sha256'
  | 'md5'
  | 'md5OfParts'
  | 'content'
  | 'presence';

/** How a copy listed the destination, for `--explain`. Sent once, at the end. */
export interface LookupEvent {
  readonly type: 'lookup';
  readonly lookup: LookupExplanation;
}

/** How a copy found out what the destination has. */
export interface LookupExplanation {
  /**
   * `none`: no lookup; `each`: a HEAD for each file; `list`: a full listing; `leapfrog`: only pages around
   * the source's files; `scan`: a local folder.
   */
  readonly chosen: 'none' | 'each' | 'list' | 'leapfrog' | 'scan';
  readonly reason: string;
  readonly sourceFiles: number;
  readonly destinationSeen: number;
  readonly lists: number;
  readonly heads: number;
  /** Decided by the index, without comparing content or metadata. */
  readonly decidedByIndex: number;
  /** Decided by comparing the local file's MD5 with the listed etag, or by a HEAD. */
  readonly decidedByHash: number;
  readonly decidedByHead: number;
  /**
   * Objects whose age `--newer` or `--older` needed: those read by a HEAD, and those remembered from an
   * earlier run.
   */
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

/** Sent once, when the server accepts requests. */
export interface ServingEvent {
  readonly type: 'serving';
  readonly folder: string;
  /** `dray://HOST:PORT`, the form that clients use. */
  readonly url: string;
  readonly isReadOnly: boolean;
  /** SHA-256 of the certificate in hex with colons; absent without TLS. */
  readonly fingerprint?: string;
  /** Only a token that this run generated: nobody could know it otherwise. */
  readonly token?: string;
}

/** Sent once, when the gateway accepts requests. */
export interface GatewayEvent {
  readonly type: 'gateway';
  /** The endpoint for S3 clients. */
  readonly url: string;
  readonly buckets: readonly { readonly name: string; readonly url: string }[];
  /** Absent: it answers without signatures. */
  readonly accessKeyId?: string;
  /** Only one that this run generated. */
  readonly secretAccessKey?: string;
  /** The file with the key pair. */
  readonly keptIn?: string;
  /** SHA-256 of the certificate in hex with colons; absent without TLS. */
  readonly fingerprint?: string;
}

/** One answer of the gateway. */
export interface GatewayAnswerEvent {
  readonly type: 'gatewayAnswer';
  readonly method: string;
  /** As it was sent, without parameters. */
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
  /** Requests to the stores that this answer waited for or began. */
  readonly upstream: number;
}

/** Sent when the window is ready, and again for each further link. */
export interface WindowEvent {
  readonly type: 'window';
  /** Opens one browser, once. */
  readonly url: string;
  readonly port: number;
}

/** A line of `job list`. Times are RFC 3339, UTC. */
export interface SavedJobEvent {
  readonly type: 'job';
  readonly name: string;
  /** The words after `dray`. */
  readonly arguments: readonly string[];
  readonly directory: string;
  /** In words, such as `every 30m`. */
  readonly triggers: readonly string[];
  readonly state: 'idle' | 'running' | 'paused';
  /** Why it does not run now. */
  readonly waits: string;
  readonly nextRun?: string;
  readonly lastRun?: string;
  readonly lastResult?: 'done' | 'failed' | 'stopped' | 'interrupted';
  readonly lastMessage?: string;
  readonly lastSuccess?: string;
  /** The progress of the current run, a few seconds old. */
  readonly progress?: {
    readonly phase: string;
    readonly filesDone: number;
    readonly filesTotal?: number;
    readonly bytesDone: number;
    readonly bytesTotal?: number;
    readonly isCounting?: boolean;
    readonly path?: string;
    readonly bytesPerSecond?: number;
  };
}

/** A run that `job serve` has started, or that has ended. */
export interface JobRunEvent {
  readonly type: 'jobRun';
  readonly name: string;
  readonly state: 'started' | 'ended';
  /** `schedule`, `change`, `mount` or `login`. */
  readonly by: string;
  readonly exitCode?: number;
}

/** A line of `job log`. */
export interface JobLogEvent {
  readonly type: 'jobLog';
  readonly time: string;
  readonly kind: string;
  readonly text: string;
}

/** An event of `watch` without a push or a sync: files have changed. */
export interface WatchEvent {
  readonly type: 'watch';
  /** Relative to the folder. Absent if unknown or too many. */
  readonly paths?: readonly string[];
}

/** Sent once, when a worker of a fleet takes work. */
export interface FleetWorkerEvent {
  readonly type: 'fleetWorker';
  /** The address of Temporal, `HOST:PORT`. */
  readonly address: string;
  readonly queue: string;
  /** The folder that it offers, and its name. */
  readonly folder?: string;
  readonly worker?: string;
}

/** A worker of a fleet began or ended a step of a job. */
export interface FleetStepEvent {
  readonly type: 'fleetStep';
  readonly state: 'started' | 'ended' | 'failed';
  /** Such as `runPart`. */
  readonly step: string;
  readonly job: string;
  /** The part of the job, such as `range 3, part 12`. Empty for a step of the whole job. */
  readonly part: string;
  /** Why a step failed. */
  readonly error?: ErrorRecord;
}
