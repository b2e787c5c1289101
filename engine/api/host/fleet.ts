/** The requests for fleets: the jobs that Temporal runs on many machines. */
import type { ErrorCode, ErrorRecord } from '../error.ts';
import type { Nothing } from './in-workspace.ts';

export interface FleetRequests {
  /** The server of `TEMPORAL_ADDRESS` first, then those that the user has added. */
  'fleet.servers': { input: Nothing; answer: { readonly servers: readonly FleetServer[] } };
  /** Adds a server. With `from`, it replaces the one of that name. */
  'fleet.keepServer': { input: { readonly server: FleetServer; readonly from?: string }; answer: Nothing };
  'fleet.removeServer': { input: { readonly name: string }; answer: Nothing };
  /**
   * Sends a `fleet` event at once and every two seconds until it is stopped; never answers. With `job`, it
   * shows that job; without, the list of jobs. Fails with `usage` and `data.reason` `temporalPackages` if
   * Temporal's packages are not installed.
   */
  'fleet.watch': { input: OfFleetServer & { readonly job?: string }; answer: Nothing };
  'fleet.change': {
    input: OfFleetJob & { readonly action: FleetAction };
    /** When `retryFailed` runs: at the end of the running job; now; or never, because no file had failed. */
    answer: { readonly retried?: 'later' | 'started' | 'nothing' };
  };
  /** Failed files, and findings of a check. Read from the destination, with this user's own credentials. */
  'fleet.failures': { input: OfFleetJob; answer: FleetFailures };
}

export type FleetAction = 'pause' | 'resume' | 'cancel' | 'retryFailed';

export interface OfFleetServer {
  /** The name of a server. */
  readonly server: string;
}

export interface OfFleetJob extends OfFleetServer {
  readonly job: string;
}

/** How to reach Temporal, and its own screens. Keys stay in their files. */
export interface FleetServer {
  readonly name: string;
  /** `HOST:PORT`. */
  readonly address: string;
  readonly namespace: string;
  readonly queue: string;
  /** The URL of Temporal's own screens. Default: port 8233 of the host, by HTTP. */
  readonly uiUrl?: string;
  readonly tls?: boolean;
  /** Absolute. */
  readonly caPath?: string;
  readonly certPath?: string;
  readonly keyPath?: string;
  readonly serverName?: string;
  readonly apiKeyPath?: string;
  readonly payloadKeyPath?: string;
  /** It is that of `TEMPORAL_ADDRESS`, and cannot be changed here. */
  readonly isGiven?: true;
}

export type FleetJobState =
  | 'running'
  | 'paused'
  | 'done'
  /** A check found differences, or a verification damage. */
  | 'found'
  /** It has ended, and some files failed, or it refused a part of its work. */
  | 'partial'
  /** It ended with an error. */
  | 'failed'
  | 'cancelled'
  | 'terminated';

export interface FleetJobCard {
  readonly id: string;
  /** `copy`, `sync`, `check` and others. */
  readonly kind: string;
  /** Without secrets. */
  readonly source: string;
  readonly destination: string;
  readonly state: FleetJobState;
  /** RFC 3339. */
  readonly started: string;
  readonly ended?: string;
}

/** The news of a watch. `error`: Temporal did not answer; the watch continues. */
export type FleetView =
  | { readonly error: ErrorRecord }
  | { readonly jobs: readonly FleetJobCard[] }
  | { readonly job: FleetJobView };

export interface FleetJobView {
  readonly card: FleetJobCard;
  /** The page of the job in Temporal's own screens. */
  readonly temporalUrl: string;
  /** Absent until a worker has answered. Of a job that has ended by itself, Temporal has it. */
  readonly progress?: FleetProgress;
  /** Why no newer progress is known: usually no worker runs. */
  readonly silence?: ErrorRecord;
}

export interface FleetProgress {
  readonly phase: string;
  readonly ranges: number;
  readonly rangesDone: number;
  readonly partsDone: number;
  readonly partsRunning: number;
  readonly partsWaiting: number;
  readonly filesDone: number;
  readonly bytesDone: number;
  /** The files of the source, as far as it is listed. */
  readonly filesKnown: number;
  readonly bytesKnown: number;
  /** The source is listed to its end. */
  readonly isListed: boolean;
  readonly failed: number;
  /** Parts with files that failed. */
  readonly failedParts: number;
  readonly failedBy: Readonly<Partial<Record<ErrorCode, number>>>;
  /** For a check or a verification; without zeros. */
  readonly findings: Readonly<Partial<Record<FleetFinding, number>>>;
  readonly limits: { readonly bytesPerSecond?: number; readonly requestsPerSecond?: number };
  /** At most `FLEET_TILES_MAX`, in the order of the keys. */
  readonly tiles: readonly FleetTile[];
  /** At most `FLEET_WORKERS_MAX`, by name. */
  readonly workers: readonly FleetWorkerCard[];
  readonly workersMore: number;
  /** At most `FLEET_WORKERS_MAX` names of workers that a push needs and that have not begun, in order. */
  readonly awaited: readonly string[];
}

export const FLEET_FINDINGS = [
  'differing',
  'onlyInSource',
  'onlyInDestination',
  'missing',
  'damaged',
] as const;
export type FleetFinding = (typeof FLEET_FINDINGS)[number];

export const FLEET_TILES_MAX = 400;
export const FLEET_WORKERS_MAX = 100;

export type FleetRangeState = 'waiting' | 'running' | 'done' | 'failed' | 'stopped';

/** A range, or as many neighbours as fit into one tile of the map. */
export interface FleetTile {
  readonly from: number;
  /** Included. */
  readonly to: number;
  /** The most urgent state of its ranges: failed, running, stopped, waiting, done. */
  readonly state: FleetRangeState;
  readonly counts: Readonly<Partial<Record<FleetRangeState, number>>>;
  /** The share that is done, from 0 to 1. While a range is still listed: of the listed part. */
  readonly share: number;
  /** The workers that work on it now. */
  readonly workers: readonly string[];
  /** Present if one of its ranges runs. */
  readonly files?: number;
  readonly filesKnown?: number;
  readonly isListed?: boolean;
}

export interface FleetWorkerCard {
  readonly name: string;
  /** The parts that it runs now. */
  readonly steps: number;
  readonly ranges: readonly number[];
  /** Totals of this job, since the worker started. */
  readonly files?: number;
  readonly bytes?: number;
  /** The mean of the last ten seconds. Absent until the worker has been watched for a while. */
  readonly bytesPerSecond?: number;
  readonly filesPerSecond?: number;
  /** `bytesPerSecond` at each poll, the newest last. */
  readonly rates: readonly number[];
}

export interface FleetFailures {
  /** At most `FLEET_FAILURES_MAX`. */
  readonly files: readonly FleetFailedFile[];
  /** The list is complete. */
  readonly isWhole: boolean;
}

export const FLEET_FAILURES_MAX = 100;

export interface FleetFailedFile {
  /** For an object of a repository, the first path that needs it. */
  readonly path: string;
  /** Absent: the file did not fail, but a check found this result. */
  readonly code?: ErrorCode;
  readonly message: string;
}
