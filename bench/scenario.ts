/** What a scenario is made of: entrants that do the same work in turn. */
import type { LoggedRequest } from '../e2e/servers/versitygw.ts';
import type { Bench } from './bench.ts';
import type { Command, CommandRun } from './measure.ts';
import type { EntrantKind, Target } from './results.ts';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly targets: readonly Target[];
  /** Where latency lies between and the promise is another. */
  readonly targetsThroughLatency?: readonly Target[];
  /** Of each round trip; measured when none is asked for. Default: none but 0. */
  readonly latenciesMs?: readonly number[];
  /** True when it asks no server over a link: there is nothing that could be delayed. */
  readonly isLocal?: true;
  /** Who takes longer in one run is a row that says so. Default: half an hour. */
  readonly limitMs?: number;
  /** Makes the data, and says who takes part. */
  open(bench: Bench, latencyMs: number): Promise<readonly Entrant[]>;
}

/** A scenario through one latency. */
export interface Heat extends Pick<Scenario, 'title' | 'targets' | 'limitMs'> {
  /** That of the scenario, and its latency where there is one: `copy-1k`, `copy-1k-30ms`. */
  readonly name: string;
  readonly scenario: string;
  readonly latencyMs: number;
  open(bench: Bench): Promise<readonly Entrant[]>;
}

/** @param latenciesMs Absent: each scenario's own. */
export function listHeats(
  scenarios: readonly Scenario[],
  latenciesMs: readonly number[] | undefined,
): readonly Heat[] {
  return scenarios.flatMap((scenario) => {
    const own = scenario.isLocal ? [0] : (latenciesMs ?? scenario.latenciesMs ?? [0]);
    return own.map((latencyMs): Heat => {
      const { name, title, targets, targetsThroughLatency = targets, limitMs } = scenario;
      const isFar = latencyMs > 0;
      return {
        name: isFar ? `${name}-${latencyMs}ms` : name,
        scenario: name,
        latencyMs,
        title: isFar ? `${title}, through ${latencyMs} ms of latency` : title,
        targets: isFar ? targetsThroughLatency : targets,
        ...(limitMs === undefined ? {} : { limitMs }),
        open: (bench) => scenario.open(bench, latencyMs),
      };
    });
  });
}

export interface Entrant {
  readonly name: string;
  readonly kind: EntrantKind;
  /** Where a scenario has more sizes than one. */
  readonly files?: number;
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
