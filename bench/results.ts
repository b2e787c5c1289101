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
  /** User and system time of the S3 servers meanwhile; null where the system does not tell. */
  readonly serverCpuMs: number | null;
}

export type Outcome =
  | { readonly state: 'measured'; readonly runs: readonly MeasuredRun[]; readonly wall: Spread }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'missing'; readonly reason: string };

/** Peers are what Dray is compared with; a reference is a yardstick that moves no data. */
export type EntrantKind = 'dray' | 'peer' | 'reference';

export interface EntrantResult {
  readonly name: string;
  readonly kind: EntrantKind;
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
  | { readonly kind: 'peakRss'; readonly of: string; readonly atMostBytes: number };

export interface Verdict {
  readonly target: Target;
  /** In the target's unit; null when what it takes was not measured. */
  readonly reached: number | null;
  readonly isMet: boolean;
}

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly entrants: readonly EntrantResult[];
  readonly verdicts: readonly Verdict[];
}

export interface Figures {
  readonly environment: Readonly<Record<string, string>>;
  /** True when the data were too small for the figures to mean anything. */
  readonly isQuick: boolean;
  readonly scenarios: readonly ScenarioResult[];
}
