/** Formats results as Markdown, for a terminal and for a README. */
import { formatBytes, formatCount, formatDuration } from '../../engine/api/text/numbers.ts';
import { largestPeakRss, measuredOf, medianMeasured, mostSent, ratioToBestPeer } from './judge.ts';
import type { EntrantResult, Figures, GrowthPoint, ScenarioResult, Target } from './results.ts';
import { fastestOf, findWall, formatBound, formatReached, formatVerdict } from './verdict-words.ts';

const NOTHING = '-';
const HEADINGS = [
  'tool',
  'wall, median',
  'least to most',
  'CPU',
  'server CPU',
  'peak memory',
  'requests',
  'sent',
  'received',
  'runs',
  'to best peer',
];

export function formatScenario(result: ScenarioResult): string[] {
  const { entrants, leftOut, name, title } = result;
  const store = result.store === 'disk' ? ', data on disk' : '';
  const server = result.server === undefined ? '' : ` on ${result.server}${store}`;
  const heading = [`### ${title} (\`${name}\`${server})`, ''];
  if (leftOut !== undefined) return [...heading, `Left out: ${leftOut}.`];
  const rows = entrants.map((entrant) => formatEntrant(entrant, entrants));
  return [
    ...heading,
    ...formatMarkdownTable(HEADINGS, rows),
    '',
    ...result.verdicts.map((verdict) => `- ${formatVerdict(verdict, entrants)}`),
  ];
}

/** The whole output of a run, from its results file. */
export function formatFigures({ environment, isQuick, scenarios }: Figures): string[] {
  return [
    ...formatEnvironment(environment, isQuick),
    ...scenarios.flatMap((scenario) => ['', ...formatScenario(scenario)]),
    '',
    '### Targets',
    '',
    ...formatSummary(scenarios),
  ];
}

/** One line for each target, to see the release at a glance. */
export function formatSummary(results: readonly ScenarioResult[]): string[] {
  const rows = results.flatMap(({ title: work, server, entrants, verdicts }) => {
    const title = server === undefined ? work : `${work}, on ${server}`;
    return verdicts.flatMap(({ target, reached, isMet }) => {
      const own = formatOwn(target, entrants);
      if (own === undefined) return [[title, 'not measured']];
      const end =
        reached === null ? 'unknown' : `${formatReached(target, reached)}, ${isMet ? 'met' : 'NOT met'}`;
      return [[title, own, formatBestOf(target, entrants), formatBound(target), end]];
    });
  });
  return formatMarkdownTable(
    ['scenario', 'median time or peak memory', 'compared with', 'at most', 'reached'],
    rows,
  );
}

function formatBestOf(target: Target, entrants: readonly EntrantResult[]): string {
  if (target.kind === 'peakRss') return formatOfPeers(entrants, findPeakRss);
  if (target.kind === 'sent') return formatOfPeers(entrants, findSent);
  if (target.kind === 'growthOfRss') {
    const peak = findPeakRss(entrants, target.over);
    return peak === undefined ? NOTHING : `${target.over}: ${formatBytes(peak)}`;
  }
  if (target.kind === 'exponent') return formatPoint(target.points[0], entrants) ?? NOTHING;
  const names = target.kind === 'ratio' ? target.toBestOf : [target.over];
  const best = fastestOf(names, entrants);
  return best ? `${best.name}: ${formatDuration(best.wall)}` : NOTHING;
}

function formatOwn(target: Target, entrants: readonly EntrantResult[]): string | undefined {
  if (target.kind === 'ratio' || target.kind === 'excess') {
    const wall = findWall(entrants, target.of);
    return wall === undefined ? undefined : `${target.of}: ${formatDuration(wall)}`;
  }
  if (target.kind === 'exponent') return formatPoint(target.points.at(-1), entrants);
  const value = (target.kind === 'sent' ? findSent : findPeakRss)(entrants, target.of);
  return value === undefined ? undefined : `${target.of}: ${formatBytes(value)}`;
}

function formatPoint(point: GrowthPoint | undefined, entrants: readonly EntrantResult[]): string | undefined {
  const wall = point && findWall(entrants, point.entrant);
  return wall === undefined ? undefined : `${point?.entrant}: ${formatDuration(wall)}`;
}

type FindBytes = (entrants: readonly EntrantResult[], name: string) => number | undefined;

/** Shows all peers, because their figures put the bound into perspective. */
function formatOfPeers(entrants: readonly EntrantResult[], find: FindBytes): string {
  const values = entrants.flatMap(({ name, kind }) => {
    const value = kind === 'peer' ? find(entrants, name) : undefined;
    return value === undefined ? [] : [`${name}: ${formatBytes(value)}`];
  });
  return values.length > 0 ? values.join(', ') : NOTHING;
}

const findPeakRss: FindBytes = (entrants, name) => bytesOf(entrants, name, largestPeakRss);
const findSent: FindBytes = (entrants, name) => bytesOf(entrants, name, mostSent);

function bytesOf(entrants: readonly EntrantResult[], name: string, read: typeof mostSent) {
  const outcome = measuredOf(entrants, name);
  return outcome && (read(outcome) ?? undefined);
}

export function formatEnvironment(environment: Readonly<Record<string, string>>, isQuick: boolean): string[] {
  return [
    ...(isQuick ? ['A quick run: its data are too small for meaningful figures.', ''] : []),
    ...Object.entries(environment).map(([name, value]) => `- ${name}: ${value}`),
  ];
}

/** The first column has text, the others have numbers. */
export function formatMarkdownTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(3, heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) => {
    const padded = widths.map((width, column) => {
      const cell = cells[column] ?? '';
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(headings), line(rule), ...rows.map(line)];
}

/** In commands and output, a pipe would start a new cell and a line break a new row. */
function oneCell(text: string): string {
  return text.replaceAll('|', '/').replace(/\s+/g, ' ').trim();
}

function formatEntrant(entrant: EntrantResult, entrants: readonly EntrantResult[]): string[] {
  const { name, outcome } = entrant;
  if (outcome.state !== 'measured') return [name, `${outcome.state}: ${oneCell(outcome.reason)}`];
  const { wall, runs } = outcome;
  const median = (of: Parameters<typeof medianMeasured>[1], format: (value: number) => string) => {
    const value = medianMeasured(outcome, of);
    return value === undefined ? NOTHING : format(value);
  };
  const ratio = ratioToBestPeer(entrant, entrants);
  return [
    name,
    formatDuration(wall.median),
    `${formatDuration(wall.least)} to ${formatDuration(wall.most)}`,
    median('cpuMs', formatDuration),
    median('serverCpuMs', formatDuration),
    median('peakRssBytes', formatBytes),
    median('requests', formatCount),
    median('sentBytes', formatBytes),
    median('receivedBytes', formatBytes),
    String(runs.length),
    ratio === undefined ? NOTHING : ratio.toFixed(2),
  ];
}
