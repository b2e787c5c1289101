/** The results of a scenario: the format of a results file. */
import type { Spread } from './statistics.ts';

/** One whole process, from its start to its end. */
export interface Measurement {
  readonly wallMs: number;
  /** User and system time; null where GNU time is not installed. */
  readonly cpuMs: number | null;
  readonly peakRssBytes: number | null;
}

export interface MeasuredRun extends Measurement {
  /** The number of requests in the S3 servers' own access logs; null where one keeps none. */
  readonly requests: number | null;
  /** The servers' user and system time during the run; null where the system does not report it. */
  readonly serverCpuMs: number | null;
  /** Bytes from the client to the servers over TCP; absent where nothing counts them. */
  readonly sentBytes?: number;
  /** Bytes from the servers to the client, likewise. */
  readonly receivedBytes?: number;
  /** For a run through versions: a number for each version, by the name of the figure (`pushMs`). */
  readonly series?: Readonly<Record<string, readonly number[]>>;
}

export type Outcome =
  | {
      readonly state: 'measured';
      readonly runs: readonly MeasuredRun[];
      /** Over `runs`, without the warm-up. */
      readonly wall: Spread;
      /** Null when the warm-up took so long that it is the measurement. */
      readonly warmUp: MeasuredRun | null;
    }
  /** With the earlier runs, including the warm-up. */
  | { readonly state: 'failed'; readonly reason: string; readonly runs: readonly MeasuredRun[] }
  | { readonly state: 'missing'; readonly reason: string };

/** How a reason starts when the preparation failed, before any run. */
export const PREPARING_FAILED = 'preparing it failed: ';

/** Peers are compared with Dray. A reference is a yardstick and no competitor. */
export type EntrantKind = 'dray' | 'peer' | 'reference';

export interface EntrantResult {
  readonly name: string;
  readonly kind: EntrantKind;
  /**
   * The number of files that it works on, when a scenario has several sizes. Only entrants of one size are
   * compared.
   */
  readonly files?: number;
  /** The command line of its first run; null when it never ran. */
  readonly command: string | null;
  readonly outcome: Outcome;
}

/** A release's promises about entrants, by their names. */
export type Target =
  /** The wall time of one is at most this multiple of the fastest other one's. */
  | {
      readonly kind: 'ratio';
      readonly of: string;
      readonly toBestOf: readonly string[];
      readonly atMost: number;
    }
  /** The wall time of one exceeds another one's by at most this. */
  | { readonly kind: 'excess'; readonly of: string; readonly over: string; readonly atMostMs: number }
  | { readonly kind: 'peakRss'; readonly of: string; readonly atMostBytes: number }
  /** Bytes from the client to the server in every run. */
  | { readonly kind: 'sent'; readonly of: string; readonly atMostBytes: number }
  /** Time grows at most with the number of files to this power, after subtracting the time of a start. */
  | {
      readonly kind: 'exponent';
      readonly of: string;
      readonly points: readonly GrowthPoint[];
      /** The entrant that only starts. */
      readonly start: string;
      readonly measure: GrowthMeasure;
      readonly atMost: number;
    }
  /** The peak memory of one in any run is at most this multiple of another one's. */
  | { readonly kind: 'growthOfRss'; readonly of: string; readonly over: string; readonly atMost: number };

/** One size of a scenario that has several. */
export interface GrowthPoint {
  readonly files: number;
  readonly entrant: string;
}

export type GrowthMeasure = 'wall' | 'cpu';

export interface Verdict {
  readonly target: Target;
  /** In the target's unit; null when a figure that it needs is missing. */
  readonly reached: number | null;
  readonly isMet: boolean;
}

export type StoreKind = 'memory' | 'disk';

export interface ScenarioResult {
  /** With the latency, if any: `copy-1k-30ms`. */
  readonly name: string;
  readonly scenario: string;
  /** Added to each round trip. */
  readonly latencyMs: number;
  /** The S3 server of the run. Absent where none takes part, and in old files with only one server. */
  readonly server?: string;
  /** Where the server kept its data. Absent where none takes part, and in old files. */
  readonly store?: StoreKind;
  readonly title: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** Why it was not run. It then has no entrants. */
  readonly leftOut?: string;
  readonly entrants: readonly EntrantResult[];
  readonly verdicts: readonly Verdict[];
}

export interface Figures {
  readonly environment: Readonly<Record<string, string>>;
  /** True when the data were too small for the figures to mean anything. */
  readonly isQuick: boolean;
  readonly scenarios: readonly ScenarioResult[];
}
