/** What a scenario gives: the shape of `figures.json`. */
import type { Spread } from './statistics.ts';

/** One whole process, from its start to its end. */
export interface Measurement {
  readonly wallMs: number;
  /** User and system time; null where GNU time is not installed. */
  readonly cpuMs: number | null;
  readonly peakRssBytes: number | null;
}

export interface MeasuredRun extends Measurement {
  /** What the S3 servers were asked for meanwhile, by their own access logs; null where one keeps none. */
  readonly requests: number | null;
  /** User and system time of the servers meanwhile; null where the system does not tell. */
  readonly serverCpuMs: number | null;
  /** From the client to the servers, over TCP; absent where nothing counts. */
  readonly sentBytes?: number;
  /** From the servers to the client, likewise. */
  readonly receivedBytes?: number;
  /** Of a run through versions: by what is measured (`pushMs`), the number of each version. */
  readonly series?: Readonly<Record<string, readonly number[]>>;
}

export type Outcome =
  | {
      readonly state: 'measured';
      readonly runs: readonly MeasuredRun[];
      /** Of `runs`, without the one that warmed up. */
      readonly wall: Spread;
      /** Null when it took so long that it is itself the measurement. */
      readonly warmUp: MeasuredRun | null;
    }
  /** With the runs that went before, the one that warmed up included. */
  | { readonly state: 'failed'; readonly reason: string; readonly runs: readonly MeasuredRun[] }
  | { readonly state: 'missing'; readonly reason: string };

/** How a reason begins where nobody came as far as to be run. */
export const PREPARING_FAILED = 'preparing it failed: ';

/** Peers are what Dray is compared with; a reference is a yardstick that moves no data. */
export type EntrantKind = 'dray' | 'peer' | 'reference';

export interface EntrantResult {
  readonly name: string;
  readonly kind: EntrantKind;
  /** That it works on, where a scenario has more sizes than one: entrants of one size are compared with each other. */
  readonly files?: number;
  /** The command line of its first run; null when it never came to one. */
  readonly command: string | null;
  readonly outcome: Outcome;
}

/** What a release promises, about entrants by their names. */
export type Target =
  /** The wall time of one is at most so many times that of the quickest of the others. */
  | {
      readonly kind: 'ratio';
      readonly of: string;
      readonly toBestOf: readonly string[];
      readonly atMost: number;
    }
  /** The wall time of one is at most so much longer than that of another. */
  | { readonly kind: 'excess'; readonly of: string; readonly over: string; readonly atMostMs: number }
  | { readonly kind: 'peakRss'; readonly of: string; readonly atMostBytes: number }
  /** From the client to the server, in every run. */
  | { readonly kind: 'sent'; readonly of: string; readonly atMostBytes: number }
  /** Time grows at most as the number of files to this power; what every start takes is taken off first. */
  | {
      readonly kind: 'exponent';
      readonly of: string;
      readonly points: readonly GrowthPoint[];
      /** What does nothing but start. */
      readonly start: string;
      readonly measure: GrowthMeasure;
      readonly atMost: number;
    }
  /** The most memory of one in any run is at most so many times that of another. */
  | { readonly kind: 'growthOfRss'; readonly of: string; readonly over: string; readonly atMost: number };

/** One size of a scenario that has several. */
export interface GrowthPoint {
  readonly files: number;
  readonly entrant: string;
}

export type GrowthMeasure = 'wall' | 'cpu';

export interface Verdict {
  readonly target: Target;
  /** In the target's unit; null when what it takes was not measured. */
  readonly reached: number | null;
  readonly isMet: boolean;
}

export type StoreKind = 'memory' | 'disk';

export interface ScenarioResult {
  /** With the latency, where there is one: `copy-1k-30ms`. */
  readonly name: string;
  readonly scenario: string;
  /** Added to each round trip. */
  readonly latencyMs: number;
  /** The S3 server that it ran against; absent where none takes part, and in files from before there was a choice. */
  readonly server?: string;
  /** Where that server kept its data; absent where none takes part, and in files from before it was told. */
  readonly store?: StoreKind;
  readonly title: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** Why it was not run; there are no entrants then. */
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
