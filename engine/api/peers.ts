/** What the jobs of peers take and give. */
import type { PlaceRequest } from './trees.ts';

export interface ServeRequest {
  /** The folder that is offered. */
  readonly folder: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port?: number;
  readonly isReadOnly?: boolean;
  /** Take set-uid, set-gid and sticky bits from clients. */
  readonly specialModes?: boolean;
  /** Holds the token; made, with one, when it is not there. Absent: a token that lasts for this run. */
  readonly tokenPath?: string;
  /** `auto`: on, with a certificate of Dray's own. */
  readonly tls?: 'auto' | 'off' | { readonly certPath: string; readonly keyPath: string };
  readonly connectionsMax?: number;
  /** Names that clients may ask by, beside this machine's own. */
  readonly names?: readonly string[];
  readonly software: string;
}

export interface ServeSummary {
  readonly folder: string;
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
  /** `dray://HOST:PORT`: where the token goes, and nowhere else. */
  readonly address: string;
}

/** What this user keeps of one peer; never the token itself. */
export interface KnownPeer {
  /** `dray://HOST:PORT`, with `?tls=off` where the connection is not encrypted. */
  readonly address: string;
  /** `environment`: this one is sent in place of one that is kept. */
  readonly token?: 'kept' | 'environment';
  /** Of the certificate that is trusted. */
  readonly fingerprint?: string;
}

/** One file made like another, by its blocks: `dray delta`. */
export interface DeltaRequest {
  readonly source: PlaceRequest;
  readonly destination: PlaceRequest;
  /** Default: 64 KiB. */
  readonly blockBytes?: number;
  /** Default: `xxh3`. */
  readonly hash?: 'xxh3' | 'sha256';
  /** `blocks`: at the same offsets; `content`: wherever they lie in the old file; `whole`: all of it travels. */
  readonly mode?: 'blocks' | 'content' | 'whole';
  /** Segments under way at once; default: 4. */
  readonly concurrency?: number;
  readonly isDryRun?: boolean;
  /** Overwrite the file itself; a run that was broken off is mended by the same again. */
  readonly isInPlace?: boolean;
}

export interface DeltaSummary {
  readonly result: 'upToDate' | 'wouldCopy' | 'copied';
  readonly source: string;
  readonly destination: string;
  readonly sizeBytes: number;
  /** Content over the wire; of a dry run: that would go. */
  readonly sentBytes: number;
  /** As they were at the destination, at the same place or another. */
  readonly keptBytes: number;
  readonly zeroBytes: number;
}

/** `dray delta --benchmark`: on a copy of the source beside the destination, which is removed in the end. */
export interface DeltaBenchmarkRequest extends Omit<DeltaRequest, 'isDryRun'> {
  /** From 0 to 100 percent changed, at equal steps; 2 at least. */
  readonly rows: number;
}

export interface DeltaTiming {
  /** Content. */
  readonly sentBytes: number;
  readonly elapsedMs: number;
}

export interface DeltaBenchmarkRow {
  /** Of the blocks, 0 to 1. */
  readonly changedShare: number;
  readonly changedBytes: number;
  readonly dray: DeltaTiming;
  /** Where it is installed and both files are on this machine. */
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
