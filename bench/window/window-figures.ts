/**
 * Measures the window in a real Chromium, against the figures that it was made for:
 *
 *   npm run bench:window                    everything; keep the machine otherwise idle
 *   npm run bench:window -- paint           or pull, push-rows, browse, push: that alone
 *   npm run bench:window -- --rows 100000   fewer rows and objects than a million
 *
 * The built command, a real S3 server on this machine. Prints a Markdown table. A run of everything with a
 * million rows also writes `bench/figures/window.json`, for `npm run bench -- --results`.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { arch, cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Browser } from 'playwright';
import { buildCommand } from '../../app/build/build.ts';
import { buildWindow } from '../../app/build/build-window.ts';
import { createS3Dataset } from '../../e2e/s3-dataset.ts';
import { type S3Server, startVersitygw } from '../../e2e/servers/versitygw.ts';
import { launchBrowser } from '../../e2e/window/open-window.ts';
import { formatBytes, formatCount } from '../../engine/api/text/numbers.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { writeDataset } from '../data/dataset.ts';
import { DRAY_COMMAND } from '../entrants/contenders.ts';
import { medianOf } from '../page/statistics.ts';
import { formatWindowTable, type WindowFigure, writeWindowFigures } from '../page/window-results.ts';
import type { PageMemory } from './page-watch.ts';
import { measureBrowse } from './window-browse.ts';
import { measurePaint } from './window-paint.ts';
import { measureCliPush, measureWindowPush } from './window-push.ts';
import { measurePullRows, measurePushRows, type RowsRun } from './window-rows.ts';

const MILLION = 1_000_000;
const PAINT_RUNS = 7;
const PUSH_RUNS = 5;
const PUSHED = { files: 50_000, bytesMax: 1024, sizes: 'equal' } as const;
const TASK_MS_MAX = 50;
const MEMORY_MAX = 250 * 2 ** 20;
const SCRIPT_MAX = 400 * 2 ** 10;

interface WindowBench {
  readonly browser: Browser;
  readonly server: S3Server;
  readonly rows: number;
}

const MEASURES = {
  paint: paintFigures,
  pull: pullFigures,
  'push-rows': pushRowsFigures,
  browse: browseFigures,
  push: pushFigures,
} satisfies Record<string, (bench: WindowBench) => Promise<readonly WindowFigure[]>>;
type FigureName = keyof typeof MEASURES;

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { rows: { type: 'string', default: String(MILLION) } },
  });
  const chosen = positionals.map(checkName);
  const rows = Number(values.rows);
  // A commit has a thousand files in each folder.
  if (!(rows >= 2_000 && rows % 1_000 === 0))
    throw new Error('--rows takes a multiple of 1000, from 2000 on.');
  const folder = dirname(DRAY_COMMAND);
  await buildCommand(folder);
  await buildWindow(join(folder, 'window'));
  const load = loadavg()[0]!.toFixed(1);
  const [browser, server] = await Promise.all([launchBrowser(), startVersitygw()]);
  try {
    const environment = await describeEnvironment(browser, load);
    const figures: WindowFigure[] = [];
    for (const name of chosen.length === 0 ? (Object.keys(MEASURES) as FigureName[]) : chosen) {
      const beganMs = performance.now();
      figures.push(...(await MEASURES[name]({ browser, server, rows })));
      console.error(`${name}: measured in ${Math.round((performance.now() - beganMs) / 1000)} s`);
    }
    console.log(formatWindowTable(figures).join('\n'));
    if (chosen.length > 0 || rows !== MILLION) return;
    console.error(`The figures are in ${await writeWindowFigures({ environment, figures })}`);
  } finally {
    await browser.close();
    await server.stop();
  }
}

function checkName(name: string): FigureName {
  if (Object.hasOwn(MEASURES, name)) return name as FigureName;
  throw new Error(`There is no figure "${name}": ${Object.keys(MEASURES).join(', ')}.`);
}

async function describeEnvironment(browser: Browser, load: string): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)('git', ['describe', '--always', '--dirty'], {
    cwd: dirname(DRAY_COMMAND),
  });
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, ${formatBytes(totalmem())} of memory`,
    system: `${type()} ${release()} ${arch()}, Node ${process.version}`,
    load: `${load} over the minute before`,
    chromium: browser.version(),
    dray: stdout.trim(),
  };
}

async function paintFigures({ browser, server }: WindowBench): Promise<readonly WindowFigure[]> {
  using dataset = createS3Dataset(server, 'paint');
  const root = await dataset.init('harbour-survey');
  dataset.sandbox.write('harbour-survey/a.txt', 'a');
  await push(dataset.context('harbour-survey'), {});
  const place = { command: DRAY_COMMAND, environment: server.environment, root, name: 'harbour-survey' };
  const runs = [];
  // One more run, to warm up the browser.
  for (let run = 0; run <= PAINT_RUNS; run += 1) runs.push(await measurePaint(browser, place));
  const usefulMs = runs.slice(1).map((run) => run.usefulMs);
  const firstMs = runs.slice(1).map((run) => run.firstMs);
  console.error(`useful paint, ms: ${usefulMs.map(Math.round).join(', ')}`);
  const median = `median of ${PAINT_RUNS}`;
  const script = 'JavaScript of the whole window, compressed';
  return [
    { work: `First useful paint, ${median}`, value: medianOf(usefulMs), unit: 'ms', atMost: 500 },
    { work: `First paint of anything, ${median}`, value: medianOf(firstMs), unit: 'ms' },
    { work: 'Requests for it', value: runs[0]!.requests, unit: 'count' },
    { work: script, value: scriptBytes(), unit: 'bytes', atMost: SCRIPT_MAX },
  ];
}

async function pullFigures({ browser, rows, server }: WindowBench): Promise<readonly WindowFigure[]> {
  const run = await measurePullRows(browser, { command: DRAY_COMMAND, server, rows });
  return rowsFigures(`Changes, pull of ${formatCount(rows)} rows`, run);
}

async function pushRowsFigures({ browser, rows, server }: WindowBench): Promise<readonly WindowFigure[]> {
  const run = await measurePushRows(browser, { command: DRAY_COMMAND, server, rows });
  return rowsFigures(`Changes, push of ${formatCount(rows)} rows`, run);
}

function rowsFigures(name: string, run: RowsRun): readonly WindowFigure[] {
  const { search, sort } = run.answerMs;
  return [
    { work: `${name}: the list after`, value: run.openMs, unit: 'ms' },
    ...taskFigures(name, run.longestTaskMs),
    ...frameFigures(name, run.frameGapsMs),
    ...(sort === undefined ? [] : [{ work: `${name}: other order after`, value: sort, unit: 'ms' } as const]),
    { work: `${name}: result of a search after`, value: search, unit: 'ms' },
    ...memoryFigures(name, run),
  ];
}

async function browseFigures({ browser, rows }: WindowBench): Promise<readonly WindowFigure[]> {
  const run = await measureBrowse(browser, { command: DRAY_COMMAND, rows });
  const name = `Browse, ${formatCount(rows)} objects`;
  return [
    { work: `${name}: first rows after`, value: run.firstRowsMs, unit: 'ms' },
    { work: `${name}: all listed after`, value: run.listedMs, unit: 'ms' },
    ...taskFigures(name, run.longestTaskMs),
    ...frameFigures(name, run.frameGapsMs),
    { work: `${name}: other order after`, value: run.answerMs.sort, unit: 'ms' },
    { work: `${name}: row of a filter after`, value: run.answerMs.filter, unit: 'ms' },
    { work: `${name}: row of a typed name after`, value: run.answerMs.typed, unit: 'ms' },
    ...memoryFigures(name, run),
  ];
}

function taskFigures(name: string, longestMs: Readonly<Record<string, number>>): readonly WindowFigure[] {
  return Object.entries(longestMs).map(([work, ms]) => ({
    work: `${name}: longest task while ${work}`,
    value: ms === 0 ? null : ms,
    unit: 'ms',
    atMost: TASK_MS_MAX,
  }));
}

function frameFigures(name: string, gapsMs: readonly number[]): readonly WindowFigure[] {
  const work = `${name}: longest of ${gapsMs.length} frames while scrolling`;
  return [{ work, value: Math.max(...gapsMs), unit: 'ms', atMost: TASK_MS_MAX }];
}

function memoryFigures(name: string, { heapBytes, processBytes }: PageMemory): readonly WindowFigure[] {
  const whole = `${name}: whole process of the page at the end`;
  return [
    { work: `${name}: JavaScript heap at the end`, value: heapBytes, unit: 'bytes', atMost: MEMORY_MAX },
    { work: whole, value: processBytes, unit: 'bytes', atMost: MEMORY_MAX },
  ];
}

async function pushFigures({ browser, server }: WindowBench): Promise<readonly WindowFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dray-window-push-'));
  const place = { root: join(folder, 'work'), command: DRAY_COMMAND, server };
  const { signal } = new AbortController();
  try {
    writeDataset(place.root, PUSHED);
    const cliMs: number[] = [];
    const windowMs: number[] = [];
    for (let run = 0; run <= PUSH_RUNS; run += 1) {
      cliMs.push(await measureCliPush(place, `cli-${run}`, signal));
      windowMs.push(await measureWindowPush(browser, place, { name: `window-${run}`, signal }));
      console.error(`push ${run}, ms: command ${cliMs.at(-1)}, window ${windowMs.at(-1)}`);
    }
    const [cli, window] = [medianOf(cliMs.slice(1)), medianOf(windowMs.slice(1))];
    const work = `Push of ${formatCount(PUSHED.files)} files, median of ${PUSH_RUNS}`;
    return [
      { work: `${work}: command line`, value: cli, unit: 'ms' },
      { work: `${work}: window, with the screen open`, value: window, unit: 'ms' },
      { work: `${work}: ratio`, value: window / cli, unit: 'ratio', atMost: 1.1 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Everything that a window may download, compressed. */
function scriptBytes(): number {
  const folder = join(dirname(DRAY_COMMAND), 'window', 'assets');
  const names = readdirSync(folder).filter((name) => name.endsWith('.js.br'));
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

await main().catch((error: unknown) => {
  // With the first of several errors, which a window that closes hides.
  console.error(error instanceof SuppressedError ? error.suppressed : error);
  process.exitCode = 1;
});
