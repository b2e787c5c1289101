/**
 * The interface between the engine's thread and the code that talks to Temporal. That code lies outside the
 * engine. The program that opens the engine names its module, and the thread loads it at the first request.
 */
import type { FleetCounts, FleetWork } from '../jobs/fleet.ts';
import type { FleetJobCard, FleetProgress, FleetServer } from './fleet.ts';

export interface FleetLink {
  /** @throws `usage` if Temporal's packages are not installed; `unreachable` */
  connect(server: FleetServer): Promise<FleetConnection>;
}

export interface FleetConnection extends AsyncDisposable {
  /** The newest first. */
  list(jobsMax: number): Promise<readonly FleetJobCard[]>;
  describe(id: string): Promise<FleetJobCard>;
  /** While the job runs, a worker has to answer. */
  status(id: string): Promise<FleetLook>;
  work(id: string): Promise<FleetWork>;
  pause(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  cancel(id: string): Promise<void>;
  retryFailed(id: string): Promise<'later' | 'started' | 'nothing'>;
}

/** A job at one moment. */
export interface FleetLook
  extends Omit<FleetProgress, 'failed' | 'failedBy' | 'findings' | 'tiles' | 'workers' | 'workersMore'> {
  readonly kind: string;
  readonly state: FleetJobCard['state'];
  readonly counts: FleetCounts;
  /** One letter for each range: `w` waits, `r` runs, `d` done, `f` has failures, `s` stopped. */
  readonly map: string;
  readonly running: readonly FleetRangeLook[];
  readonly workers: readonly FleetWorkerLook[];
}

export interface FleetRangeLook {
  readonly range: number;
  readonly files: number;
  readonly filesKnown: number;
  readonly isListed: boolean;
  readonly failed: number;
  readonly workers: readonly string[];
}

export interface FleetWorkerLook {
  readonly worker: string;
  readonly steps: number;
  readonly ranges: readonly number[];
  readonly total?: {
    readonly steps: number;
    readonly files: number;
    readonly bytes: number;
    /** By the worker's own clock. */
    readonly atMs: number;
  };
}
