/** What a scenario is made of: entrants that do the same work in turn. */
import type { LoggedRequest } from '../e2e/servers/versitygw.ts';
import type { Bench } from './bench.ts';
import type { Command, CommandRun } from './measure.ts';
import type { EntrantKind, Target } from './results.ts';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly targets: readonly Target[];
  /** Who takes longer in one run is a row that says so. Default: half an hour. */
  readonly limitMs?: number;
  /** Makes the data, and says who takes part. */
  open(bench: Bench): Promise<readonly Entrant[]>;
}

export interface Entrant {
  readonly name: string;
  readonly kind: EntrantKind;
  /** Why it cannot take part. */
  readonly missing?: string;
  /** Once, before any run. */
  setUp?(): Promise<void>;
  /** What comes before a run and is not a part of it. */
  prepare(): Promise<Attempt>;
}

export interface Attempt {
  readonly command: Command;
  /**
   * @param requests Null where the server keeps no log.
   * @throws Error when the work was not done.
   */
  check(run: CommandRun, requests: readonly LoggedRequest[] | null): Promise<void>;
  /** Of the server of its own that it asks, as a total so far; absent: the bench's servers are asked. */
  readonly serverCpuMs?: () => Promise<number | null>;
  /** What has gone to the server so far, in bytes; absent: nothing counts it. */
  readonly sentBytes?: () => number;
  /** Removes what the run left. */
  close(): Promise<void>;
}
