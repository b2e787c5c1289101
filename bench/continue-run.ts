/** Continues a stopped run of the same build on the same machine with the same tools. */
import type { ServerName } from './machines/bench-servers.ts';
import type { Figures, ScenarioResult } from './page/results.ts';
import type { Heat } from './scenarios/scenario.ts';

/**
 * Parts of the environment that may differ: added scenarios may use more servers and other places for their
 * data.
 */
const MAY_DIFFER: ReadonlySet<string> = new Set(['date', 'server', 'not measured']);

type Circumstances = Pick<Figures, 'environment' | 'isQuick'>;

/**
 * The environment of both runs together.
 *
 * @throws Error when the figures of the two must not share a table.
 */
export function joinEnvironments(
  file: string,
  earlier: Circumstances,
  now: Circumstances,
): Figures['environment'] {
  const again = 'Measure all of it anew, or write another file (--json FILE).';
  if (earlier.isQuick !== now.isQuick)
    throw new Error(`${file} holds figures of ${earlier.isQuick ? 'tiny' : 'full-size'} data. ${again}`);
  const names = new Set([...Object.keys(earlier.environment), ...Object.keys(now.environment)]);
  const joined = [...names].map((name): [string, string] => {
    const [was, is] = [earlier.environment[name] ?? 'none', now.environment[name] ?? 'none'];
    // The run may have been continued before.
    if (was === is || was.endsWith(`; continued: ${is}`)) return [name, was];
    // Nothing was left to measure.
    if (name === 'server' && now.environment.server === undefined) return [name, was];
    if (MAY_DIFFER.has(name)) return [name, `${was}; continued: ${is}`];
    throw new Error(`${file} was measured with another "${name}": ${was}; now ${is}. ${again}`);
  });
  return Object.fromEntries(joined);
}

/** True when an earlier run has measured the heat on this server. False when it had no room for it. */
export function isMeasured(
  earlier: readonly ScenarioResult[],
  { isWithoutStore, name }: Pick<Heat, 'name' | 'isWithoutStore'>,
  server: ServerName,
): boolean {
  return earlier.some(
    (result) =>
      result.leftOut === undefined && result.name === name && (isWithoutStore || result.server === server),
  );
}
