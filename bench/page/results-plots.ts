/** The plots of the results page, each an SVG file. */
import { formatCount } from '../../engine/api/text/numbers.ts';
import { type PlotLine, plotLines } from './plot-lines.ts';
import { plotRatios } from './plot-ratios.ts';
import type { EntrantResult, MeasuredRun } from './results.ts';
import { isUsualServer, keyOf, type ResultGroup, type ResultRow, wallOf, workOf } from './results-rows.ts';
import { medianOf } from './statistics.ts';

export interface Plot {
  /** `copies.svg`. */
  readonly file: string;
  readonly title: string;
  readonly svg: string;
}

/** Only rows of the usual server; other servers have rows in the tables. */
export function drawPlots(groups: readonly ResultGroup[]): ReadonlyMap<ResultGroup, readonly Plot[]> {
  return new Map(groups.map((group) => [group, drawGroup(group)]));
}

function drawGroup({ name, rows, title }: ResultGroup): readonly Plot[] {
  const usual = rows.filter(({ result, server }) => isUsualServer(server) && result.leftOut === undefined);
  const single = usual.filter((row) => !isAtSizes(row) && !hasSeries(row));
  return [
    ...keep(name, title, plotRatios(title, single)),
    ...usual.filter(isAtSizes).flatMap(drawGrowth),
    ...usual.filter(hasSeries).flatMap(drawSeries),
  ];
}

function keep(name: string, title: string, svg: string | undefined): readonly Plot[] {
  return svg === undefined ? [] : [{ file: `${name}.svg`, title, svg }];
}

function isAtSizes({ result }: ResultRow): boolean {
  return result.entrants.some(({ files }) => files !== undefined);
}

function hasSeries({ result }: ResultRow): boolean {
  return result.entrants.some((entrant) => seriesOf(entrant).length > 0);
}

/** Plots the time and the memory of each work by the number of files. */
function drawGrowth(row: ResultRow): readonly Plot[] {
  const { entrants, title } = row.result;
  const measures = [
    { name: 'time', of: timeOf, format: formatSeconds },
    { name: 'memory', of: memoryOf, format: formatAxisBytes },
  ] as const;
  return measures.flatMap(({ format, name, of }) => {
    const heading = `${shorten(title)}: ${name}`;
    const svg = plotLines({
      title: heading,
      xTitle: 'files, logarithmic',
      yTitle: `${name === 'time' ? 'median wall time' : 'median peak memory'}, logarithmic`,
      isLogarithmic: true,
      formatX: formatCount,
      formatY: format,
      lines: linesOverSizes(entrants, of),
    });
    return keep(`${keyOf(row)}-${name}`.replaceAll(' ', '-'), heading, svg);
  });
}

function linesOverSizes(
  entrants: readonly EntrantResult[],
  of: (entrant: EntrantResult) => number | undefined,
): readonly PlotLine[] {
  const lines = new Map<string, { x: number; y: number }[]>();
  for (const entrant of entrants) {
    const [x, y] = [entrant.files, of(entrant)];
    if (x === undefined || y === undefined || y <= 0) continue;
    const points = lines.get(workOf(entrant)) ?? [];
    points.push({ x, y });
    lines.set(workOf(entrant), points);
  }
  return [...lines].map(([name, points]) => ({ name, points: points.sort((a, b) => a.x - b.x) }));
}

function timeOf(entrant: EntrantResult): number | undefined {
  return entrant.outcome.state === 'measured' ? wallOf(entrant) : undefined;
}

function memoryOf({ outcome }: EntrantResult): number | undefined {
  if (outcome.state !== 'measured') return undefined;
  const peaks = outcome.runs.flatMap(({ peakRssBytes }) => peakRssBytes ?? []);
  return peaks.length > 0 ? medianOf(peaks) : undefined;
}

const SERIES_TITLES: Readonly<Record<string, string>> = {
  pushMs: 'time of each push',
  pullMs: 'time of each pull',
  sentBytes: 'bytes sent by each push',
  receivedBytes: 'bytes received by each pull',
  storedBytes: 'space on the store',
};

const TITLE_CHARACTERS_MAX = 60;

/** One plot for each figure that is measured of every version. */
function drawSeries(row: ResultRow): readonly Plot[] {
  const { entrants, title } = row.result;
  const opening = title.length > TITLE_CHARACTERS_MAX ? keyOf(row) : title;
  const names = new Set(entrants.flatMap((entrant) => seriesOf(entrant).flatMap(Object.keys)));
  return [...names].flatMap((name) => {
    const heading = `${opening}: ${SERIES_TITLES[name] ?? name}`;
    const svg = plotLines({
      title: heading,
      xTitle: 'version',
      yTitle: SERIES_TITLES[name] ?? name,
      isLogarithmic: false,
      formatX: formatCount,
      formatY: name.endsWith('Ms') ? formatSeconds : name.endsWith('Bytes') ? formatAxisBytes : formatCount,
      lines: entrants.flatMap((entrant) => {
        const values = medianSeries(seriesOf(entrant).map((series) => series[name] ?? []));
        return values.length === 0
          ? []
          : [{ name: entrant.name, points: values.map((y, index) => ({ x: index + 1, y })) }];
      }),
    });
    return keep(`${keyOf(row)}-${name}`.replaceAll(' ', '-'), heading, svg);
  });
}

function seriesOf({ outcome }: EntrantResult): readonly NonNullable<MeasuredRun['series']>[] {
  return outcome.state === 'measured' ? outcome.runs.flatMap(({ series }) => (series ? [series] : [])) : [];
}

/** The median of the runs for each version. */
function medianSeries(runs: readonly (readonly number[])[]): readonly number[] {
  const longest = Math.max(0, ...runs.map((run) => run.length));
  return Array.from({ length: longest }, (_, index) => medianOf(runs.flatMap((run) => run[index] ?? [])));
}

/** Labels of an axis: round numbers with their unit. */
function formatSeconds(ms: number): string {
  return `${plain(ms / 1000)} s`;
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Decimal units, as the steps of an axis. */
function formatAxisBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(bytes) / 3 + 1e-9));
  return `${plain(bytes / 1000 ** power)} ${BYTE_UNITS[power]}`;
}

function plain(value: number): string {
  return value < 10 ? String(Number(value.toPrecision(2))) : formatCount(value);
}

/** Removes the numbers of files after the first colon, which the axis shows. */
function shorten(title: string): string {
  return title.split(':')[0] ?? title;
}
