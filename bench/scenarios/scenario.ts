/** A scenario: entrants that do the same work in turn. */
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
  /** The targets through a latency, when they differ. */
  readonly targetsThroughLatency?: readonly Target[];
  /** The latencies of a round trip to measure by default. Default: only 0. */
  readonly latenciesMs?: readonly number[];
  /** True when no link to a server is part of it, so nothing can be delayed. */
  readonly isLocal?: true;
  /** True when no S3 server takes part: measured once, whatever servers are requested. */
  readonly isWithoutStore?: true;
  /** The server to measure against by default. Default: `USUAL_SERVER`. */
  readonly server?: ServerName;
  /** The time limit of a run; an entrant that exceeds it gets a row that says so. Default: half an hour. */
  readonly limitMs?: number;
  readonly needs: Needs;
  /** Makes the data and returns the entrants. */
  open(bench: Bench, latencyMs: number): Promise<readonly Entrant[]>;
}

/** A scenario through one latency. */
export interface Heat
  extends Pick<Scenario, 'title' | 'targets' | 'limitMs' | 'needs' | 'isWithoutStore' | 'server'> {
  /** The scenario's name, with the latency if any: `copy-1k`, `copy-1k-30ms`. */
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
 * Chooses heats by a scenario's name (all its latencies) or by a heat's name; `*` matches anything.
 *
 * @param names Empty: all. @throws Error for a name that matches none.
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
  /** Given when a scenario has several sizes. */
  readonly files?: number;
  /** Why it cannot take part. */
  readonly missing?: string;
  /** Runs once, before the first run. */
  setUp?(): Promise<void>;
  /** Runs before each run, and is not measured. */
  prepare(): Promise<Attempt>;
}

/** The sums of several commands and their largest peak, with the output of the last one. */
export interface SeriesRun extends CommandRun {
  readonly series: NonNullable<MeasuredRun['series']>;
}

export interface Attempt {
  readonly command: Command;
  /** Given when a run has several commands: runs them in turn; its time is their sum. */
  readonly runAll?: (run: (command: Command) => Promise<CommandRun>) => Promise<SeriesRun>;
  /** @param requests Null where the server keeps no log. @throws Error when the work was not done. */
  check(run: CommandRun, requests: readonly LoggedRequest[] | null): Promise<void>;
  /** The total CPU time of the attempt's own server so far. Absent: the bench's servers are read. */
  readonly serverCpuMs?: () => Promise<number | null>;
  /** The port of that server. */
  readonly serverPort?: number;
  /** The bytes sent to the server so far, as the scenario itself counts them. */
  readonly sentBytes?: () => number;
  /** Removes what the run left. */
  close(): Promise<void>;
}
