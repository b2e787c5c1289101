/** The section of the results page about fleets: one table for each program in `bench/fleet`. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatEnvironment, formatMarkdownTable } from './report.ts';

/** As a program has measured and formatted it. */
export interface FleetFigure {
  /** Its place on the page. */
  readonly order: number;
  readonly title: string;
  /** The subject and the method of the measurement, in sentences. */
  readonly text: string;
  /** Repeats it. */
  readonly command: string;
  readonly circumstances: Readonly<Record<string, string>>;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly targets: readonly FleetTarget[];
  /** Reasons and limits, which the table does not show. */
  readonly notes: readonly string[];
}

export interface FleetTarget {
  readonly target: string;
  readonly reached: string;
  /** Null: the run cannot decide it. */
  readonly isMet: boolean | null;
}

/** Subjects whose programs are apart from `npm run bench`, in the order of the page, with their headings. */
const HEADINGS = {
  compression: 'Compression',
  encryption: 'Encryption',
  collection: 'Collection',
  partial: 'A part of a dataset',
  gateway: 'The gateway',
} as const;

/** By their headings. */
export type SubjectFigures = ReadonlyMap<string, readonly FleetFigure[]>;

export async function readSubjectFigures(folder: string): Promise<SubjectFigures> {
  const subjects = Object.keys(HEADINGS) as (keyof typeof HEADINGS)[];
  const read = subjects.map(
    async (subject) => [HEADINGS[subject], await readFleetFigures(folder, subject)] as const,
  );
  return new Map(await Promise.all(read));
}

/** All figures of the folder and the subject, in the order of the page. */
export async function readFleetFigures(
  folder: string,
  subject: keyof typeof HEADINGS | 'fleet' = 'fleet',
): Promise<readonly FleetFigure[]> {
  const names = (await readdir(join(folder, subject))).filter((name) => name.endsWith('.json'));
  const figures = await Promise.all(
    names.map(
      async (name): Promise<FleetFigure> => JSON.parse(await readFile(join(folder, subject, name), 'utf8')),
    ),
  );
  return figures.sort((left, right) => left.order - right.order);
}

export function formatFigureSection(heading: string, figures: readonly FleetFigure[]): readonly string[] {
  if (figures.length === 0) return [];
  return [`## ${heading}`, '', ...figures.flatMap((figure) => [...formatFleetFigure(figure), ''])];
}

export function formatFleetSection(figures: readonly FleetFigure[]): readonly string[] {
  if (figures.length === 0) return [];
  return [
    '## A fleet on Temporal',
    '',
    'Workers are processes of the built command on one machine, with a real Temporal server (its server for ' +
      'development, state in a file) and real stores. These programs run apart from `npm run bench`; each has ' +
      'its own date, load and command.',
    '',
    ...figures.flatMap((figure) => [...formatFleetFigure(figure), '']),
  ];
}

export function formatFleetFigure(figure: FleetFigure): readonly string[] {
  const { circumstances, command, headings, notes, rows, targets, text, title } = figure;
  return [
    `### ${title}`,
    '',
    text,
    '',
    ...formatMarkdownTable(headings, rows),
    '',
    ...targets.map(formatTarget),
    ...notes.map((note) => `- ${note}`),
    ...formatEnvironment({ ...circumstances, repeat: `\`${command}\`` }, false),
  ];
}

function formatTarget({ isMet, reached, target }: FleetTarget): string {
  const verdict = isMet === null ? 'unknown' : isMet ? 'met' : 'NOT met';
  return `- target: ${target}: reached ${reached}, ${verdict}`;
}
