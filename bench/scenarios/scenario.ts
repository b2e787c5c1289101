/** What a scenario is made of: entrants that do the same work in turn. */
import type { LoggedRequest } from '../../e2e/servers/versitygw.ts';
import type { Bench } from '../machines/bench.ts';
import type { ServerName } from '../machines/bench-servers.ts';
import type { Command, CommandRun } from '../machines/measure.ts';
import type { EntrantKind, MeasuredRun, Target } from '../page/results.ts';
import type { Needs } from './holding.ts';

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
  /** True when no S3 server takes part: measured once, whatever servers are asked for. */
  readonly isWithoutStore?: true;
  /** Measured against it when none is asked for. Default: `USUAL_SERVER`. */
  readonly server?: ServerName;
  /** Who takes longer in one run is a row that says so. Default: half an hour. */
  readonly limitMs?: number;
  readonly needs: Needs;
  /** Makes the data, and says who takes part. */
  open(bench: Bench, latencyMs: number): Promise<readonly Entrant[]>;
}

/** A scenario through one latency. */
export interface Heat
  extends Pick<Scenario, 'title' | 'targets' | 'limitMs' | 'needs' | 'isWithoutStore' | 'server'> {
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
      const { name, title, targets, targetsThroughLatency = targets, limitMs, needs, server } = scenario;
      const isWithoutStore = scenario.isWithoutStore ?? scenario.isLocal;
      const isFar = latencyMs > 0;
      return {
        name: isFar ? `${name}-${latencyMs}ms` : name,
        scenario: name,
        latencyMs,
        title: isFar ? `${title}, through ${latencyMs} ms of latency` : title,
        targets: isFar ? targetsThroughLatency : targets,
        needs,
        ...(limitMs === undefined ? {} : { limitMs }),
        ...(isWithoutStore ? { isWithoutStore } : {}),
        ...(server ? { server } : {}),
        open: (bench) => scenario.open(bench, latencyMs),
      };
    });
  });
}

/**
 * Asked for by the scenario's name, through each of its latencies, or by the name of one; `*` stands for anything.
 *
 * @param names Empty: all.
 * @throws Error for a name that matches none.
 */
export function chooseHeats(heats: readonly Heat[], names: readonly string[]): readonly Heat[] {
  const chosen = names.map((asked) => {
    const literal = asked.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    const pattern = new RegExp(`^${literal.join('.*')}$`);
    const matching = heats.filter(({ name, scenario }) => pattern.test(name) || pattern.test(scenario));
    if (matching.length === 0)
      throw new Error(`There is no scenario ${asked}: ${heats.map((heat) => heat.name).join(', ')}.`);
    return matching;
  });
  return names.length === 0 ? heats : heats.filter((heat) => chosen.some((some) => some.includes(heat)));
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

/** Of several commands: sums, and the largest peak; what the last of them printed. */
export interface SeriesRun extends CommandRun {
  readonly series: NonNullable<MeasuredRun['series']>;
}

export interface Attempt {
  readonly command: Command;
  /** Where a run is more than that one command: all of them, one by one; its time is their sum. */
  readonly runAll?: (run: (command: Command) => Promise<CommandRun>) => Promise<SeriesRun>;
  /**
   * @param requests Null where the server keeps no log.
   * @throws Error when the work was not done.
   */
  check(run: CommandRun, requests: readonly LoggedRequest[] | null): Promise<void>;
  /** Of the server of its own that it asks, as a total so far; absent: the bench's servers are asked. */
  readonly serverCpuMs?: () => Promise<number | null>;
  /** Of that server of its own. */
  readonly serverPort?: number;
  /** What has gone to the server so far, in bytes, as the scenario counts it itself. */
  readonly sentBytes?: () => number;
  /** Removes what the run left. */
  close(): Promise<void>;
}
