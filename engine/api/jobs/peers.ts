/** Requests and summaries of the peer jobs. */
import type { PlaceRequest } from './trees.ts';

export interface ServeRequest {
  /** The folder to serve. */
  readonly folder: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
  readonly isReadOnly?: boolean;
  /** Accept set-uid, set-gid and sticky bits from clients. */
  readonly specialModes?: boolean;
  /**
   * The token file, which Dray creates with a new token when it is missing. Absent: a token for this run
   * only.
   */
  readonly tokenPath?: string;
  /** `auto`: encrypted, with Dray's own certificate. */
  readonly tls?: 'auto' | 'off' | { readonly certPath: string; readonly keyPath: string };
  readonly connectionsMax?: number;
  /** Names that clients may use for this server, besides this machine's own. */
  readonly names?: readonly string[];
  readonly software: string;
}

export interface ServeSummary {
  readonly folder: string;
  readonly url: string;
  readonly requests: number;
}

export interface GatewayRequest {
  /** `NAME=PLACE` or `PLACE`: a repository's URL or the name of a remote. None: the workspace's remote. */
  readonly repositories: readonly string[];
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
  /** Default: off. Beyond loopback either this or `isInsecure` is needed. */
  readonly tls?: NonNullable<ServeRequest['tls']>;
  /** Plain HTTP beyond loopback. */
  readonly isInsecure?: boolean;
  /** No signatures. On loopback only. */
  readonly isAnonymous?: boolean;
  /** The bound of the cache on the disk, for each repository. 0: none. Default 1 GiB. */
  readonly cacheBytes?: number;
  /** An event for each answer. */
  readonly explain?: boolean;
}

export interface GatewaySummary {
  readonly url: string;
  readonly requests: number;
}

/** `dray login`, `dray logout`. */
export interface LoginRequest {
  /** `HOST`, `HOST:PORT`, or a peer's URL. */
  readonly peer: string;
  readonly token: string;
}

export interface LoginSummary {
  /** `dray://HOST:PORT`: the only address that gets the token. */
  readonly address: string;
}

/** This user's record of one peer; never the token itself. */
export interface KnownPeer {
  /** `dray://HOST:PORT`, with `?tls=off` where the connection is not encrypted. */
  readonly address: string;
  /** `environment`: this token replaces a saved one. */
  readonly token?: 'kept' | 'environment';
  /** The fingerprint of the trusted certificate. */
  readonly fingerprint?: string;
}

/** Updates one file to match another by sending only differing blocks: `dray delta`. */
export interface DeltaRequest {
  readonly source: PlaceRequest;
  readonly destination: PlaceRequest;
  /** Default: 64 KiB. */
  readonly blockBytes?: number;
  /** Default: `xxh3`. */
  readonly hash?: 'xxh3' | 'sha256';
  /**
   * `blocks`: compares blocks at the same offsets; `content`: finds content at any offset of the old file;
   * `whole`: sends everything.
   */
  readonly mode?: 'blocks' | 'content' | 'whole';
  /** Segments in flight; default: 4. */
  readonly concurrency?: number;
  readonly isDryRun?: boolean;
  /** Overwrites the file itself. After an interruption, the same command repairs it. */
  readonly isInPlace?: boolean;
}

export interface DeltaSummary {
  readonly result: 'upToDate' | 'wouldCopy' | 'copied';
  readonly source: string;
  readonly destination: string;
  readonly sizeBytes: number;
  /** Content bytes on the wire; in a dry run, the bytes that would be sent. */
  readonly sentBytes: number;
  /**
   * Bytes that need not be sent: the destination had them, at the same offset or another, or they are zeros.
   */
  readonly keptBytes: number;
  /** The zeros among `keptBytes`. */
  readonly zeroBytes: number;
}

/**
 * `dray delta --benchmark`: works on a copy of the source beside the destination and removes it at the end.
 */
export interface DeltaBenchmarkRequest extends Omit<DeltaRequest, 'isDryRun'> {
  /** Number of steps from 0 to 100 percent changed; at least 2. */
  readonly rows: number;
}

export interface DeltaTiming {
  /** Content bytes on the wire. */
  readonly sentBytes: number;
  readonly elapsedMs: number;
}

export interface DeltaBenchmarkRow {
  /** The share of blocks that changed, 0 to 1. */
  readonly changedShare: number;
  readonly changedBytes: number;
  readonly dray: DeltaTiming;
  /** Present when rsync is installed and both files are on this machine. */
  readonly rsync?: DeltaTiming;
}

export interface DeltaBenchmarkSummary {
  readonly source: string;
  readonly destination: string;
  readonly sizeBytes: number;
  readonly blockBytes: number;
  readonly rows: readonly DeltaBenchmarkRow[];
  readonly rsyncVersion?: string;
}
