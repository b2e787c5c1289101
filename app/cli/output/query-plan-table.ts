/** The table of `--explain`: how Dray finds out which objects exist, and why it chose that way. */
import type { QueryCost, QueryExplanation } from '../../../engine/api/events.ts';
import {
  formatCount,
  formatDollars,
  formatDuration,
  formatPlural,
} from '../../../engine/api/text/numbers.ts';
import { formatTable } from './table.ts';

/** The part that is known before the query runs. */
export function formatQueryPlan(query: QueryExplanation): string[] {
  const rows = [
    ['', 'requests', 'time', 'cost'],
    ['each', ...costCells(query.each)],
    ['list', ...costCells(query.list)],
  ];
  const facts = [
    ['needed', `${formatPlural(query.wanted, 'blob')}`],
    ['known', `${formatCount(query.removedByIndex)} skipped: the index knows that the remote has them`],
    ['to ask', formatPlural(query.candidates, 'candidate')],
    ['remote', formatRemoteSize(query)],
  ];
  const outcome = [
    [
      'even at',
      `${formatPlural(query.breakEvenObjects, 'object')} on the remote; above, asking for each is cheaper`,
    ],
    ['choice', `${query.chosen} (mode ${query.mode}): ${query.reason}`],
  ];
  const lines = formatTable(facts, ['left', 'left']);
  if (query.candidates > 0) lines.push(...formatTable(rows, ['left', 'right', 'right', 'right']));
  const shown = query.candidates > 0 ? outcome : outcome.slice(1);
  return [
    'Which objects exist:',
    ...[...lines, ...formatTable(shown, ['left', 'left'])].map((line) => `  ${line}`),
  ];
}

/** The actual cost. Empty if the query has not run. */
export function formatQueryActual({ actual }: QueryExplanation): string[] {
  if (!actual) return [];
  const found = `${formatCount(actual.present)} there, ${formatCount(actual.absent)} to send`;
  const [, time, cost] = costCells(actual);
  return [`  actual   ${formatPlural(actual.requests, 'request')}, ${time}, ${cost}: ${found}`];
}

function costCells(cost: QueryCost): [string, string, string] {
  return [formatCount(cost.requests), formatDuration(cost.seconds * 1000), formatDollars(cost.dollars)];
}

function formatRemoteSize({ remoteObjects, sampledPrefixes }: QueryExplanation): string {
  if (!remoteObjects) return 'size unknown and not needed';
  const { estimate, low, high, from } = remoteObjects;
  if (from === 'known') return formatPlural(estimate, 'object');
  const source =
    from === 'sample'
      ? `from ${formatPlural(sampledPrefixes, 'sampled prefix', 'sampled prefixes')}`
      : 'remembered';
  return `about ${formatPlural(estimate, 'object')} (95 %: ${formatCount(low)} to ${formatCount(high)}; ${source})`;
}
