/** The window's figures: their file (`figures/window.json`) and their part of the results page. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatBytes, formatCount } from '../../engine/api/text/numbers.ts';
import { FIGURES_FOLDER, WINDOW_FIGURES } from './figures-file.ts';
import { formatEnvironment, formatMarkdownTable } from './report.ts';

export type WindowUnit = 'ms' | 'bytes' | 'ratio' | 'count';

export interface WindowFigure {
  readonly work: string;
  /** Null for a longest task where none took 50 ms, which Chromium does not report. */
  readonly value: number | null;
  readonly unit: WindowUnit;
  readonly atMost?: number;
}

export interface WindowFigures {
  readonly environment: Readonly<Record<string, string>>;
  readonly figures: readonly WindowFigure[];
}

const FILE = join(FIGURES_FOLDER, WINDOW_FIGURES);

/** Undefined before the first run. */
export async function readWindowFigures(): Promise<WindowFigures | undefined> {
  const text = await readFile(FILE, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** Writes the whole file or nothing. Returns its path. */
export async function writeWindowFigures(figures: WindowFigures): Promise<string> {
  await mkdir(dirname(FILE), { recursive: true });
  await writeFile(`${FILE}.tmp`, `${JSON.stringify(figures, undefined, 2)}\n`);
  await rename(`${FILE}.tmp`, FILE);
  return FILE;
}

export function formatWindowSection({ environment, figures }: WindowFigures): readonly string[] {
  return [
    '## The window',
    '',
    'The built `dray ui` in Chromium, with the S3 server on the same machine (`npm run bench:window`). Chromium ' +
      'reports the tasks',
    'that keep a page busy for more than 50 ms; where it reported none, the figure says so.',
    '',
    ...formatWindowTable(figures),
    '',
    ...formatEnvironment(environment, false),
    '',
  ];
}

export function formatWindowTable(figures: readonly WindowFigure[]): readonly string[] {
  return formatMarkdownTable(
    ['work', 'figure', 'at most', ''],
    figures.map((figure) => {
      const { atMost, unit, value, work } = figure;
      const bound = atMost === undefined ? '-' : formatValue(atMost, unit);
      return [work, value === null ? 'none over 50 ms' : formatValue(value, unit), bound, verdictOf(figure)];
    }),
  );
}

function verdictOf({ atMost, value }: WindowFigure): string {
  if (atMost === undefined) return '';
  return value === null || value <= atMost ? 'met' : '**not met**';
}

function formatValue(value: number, unit: WindowUnit): string {
  if (unit === 'bytes') return formatBytes(value);
  if (unit === 'ratio') return value.toFixed(2);
  if (unit === 'count') return formatCount(value);
  return value < 10_000 ? `${formatCount(value)} ms` : `${(value / 1000).toFixed(1)} s`;
}
