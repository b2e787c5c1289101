/**
 * Measures the window in a real Chromium, against the figures that it was made for:
 *
 *   npm run bench:window                          everything; let nothing else run on the machine meanwhile
 *   npm run bench:window -- paint                 or rows, browse, push: that alone
 *
 * The built command, a real S3 server on this machine. Prints a Markdown table.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser } from 'playwright';
import { buildCommand } from '../../app/build/build.ts';
import { createS3Dataset } from '../../e2e/s3-dataset.ts';
import { type S3Server, startVersitygw } from '../../e2e/servers/versitygw.ts';
import { launchBrowser } from '../../e2e/window/open-window.ts';
import { formatBytes } from '../../engine/api/numbers.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { writeDataset } from '../data/dataset.ts';
import { DRAY_COMMAND } from '../entrants/contenders.ts';
import { medianOf } from '../page/statistics.ts';
import { type BrowseWork, measureBrowse } from './window-browse.ts';
import { measurePaint } from './window-paint.ts';
import { measureCliPush, measureWindowPush } from './window-push.ts';
import { measureRows } from './window-rows.ts';

const FIGURES = ['paint', 'rows', 'browse', 'push'] as const;
type FigureName = (typeof FIGURES)[number];

const PAINT_RUNS = 7;
const PUSH_RUNS = 5;
const PUSHED = { files: 50_000, bytesMax: 1024, sizes: 'equal' } as const;

interface Row {
  readonly work: string;
  readonly figure: string;
  readonly target: string;
}

async function main(): Promise<void> {
  const chosen = process.argv.slice(2).map(checkName);
  await buildCommand(dirname(DRAY_COMMAND));
  console.error(`Load average: ${loadavg()[0]!.toFixed(1)}`);
  const [browser, server] = await Promise.all([launchBrowser(), startVersitygw()]);
  try {
    const rows: Row[] = [];
    for (const name of chosen.length === 0 ? FIGURES : chosen)
      rows.push(...(await MEASURES[name](browser, server)));
    console.log('| work | figure | target |\n| --- | --- | --- |');
    for (const { figure, target, work } of rows) console.log(`| ${work} | ${figure} | ${target} |`);
  } finally {
    await browser.close();
    await server.stop();
  }
}

const MEASURES: Readonly<
  Record<FigureName, (browser: Browser, server: S3Server) => Promise<readonly Row[]>>
> = {
  paint: paintFigures,
  rows: rowsFigures,
  browse: browseFigures,
  push: pushFigures,
};

async function paintFigures(browser: Browser, server: S3Server): Promise<readonly Row[]> {
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
  return [
    { work: 'first useful paint', figure: formatMs(medianOf(usefulMs)), target: 'under 500 ms' },
    { work: 'first paint of anything', figure: formatMs(medianOf(firstMs)), target: '' },
    { work: 'requests for it', figure: String(runs[0]?.requests), target: '' },
    { work: 'JavaScript sent, compressed', figure: formatBytes(scriptBytes()), target: 'under 400 KiB' },
  ];
}

async function rowsFigures(browser: Browser, server: S3Server): Promise<readonly Row[]> {
  const run = await measureRows(browser, { command: DRAY_COMMAND, server });
  return [
    { work: '1,000,000 rows: opened in', figure: formatMs(run.openMs), target: '' },
    { work: '1,000,000 rows: JavaScript heap', figure: formatBytes(run.heapBytes), target: 'under 250 MB' },
    {
      work: '1,000,000 rows: whole process of the page',
      figure: formatBytes(run.processBytes),
      target: 'under 250 MB',
    },
    {
      work: `1,000,000 rows: longest of ${run.frames} frames while scrolling`,
      figure: formatMs(run.longestFrameMs),
      target: 'under 50 ms',
    },
    { work: '1,000,000 rows: 99 of 100 frames', figure: formatMs(run.usualFrameMs), target: '' },
  ];
}

async function browseFigures(browser: Browser): Promise<readonly Row[]> {
  const run = await measureBrowse(browser, { command: DRAY_COMMAND });
  const of = '1,000,000 objects:';
  const tasks = (Object.entries(run.longestTaskMs) as [BrowseWork, number][]).map(([work, ms]) => ({
    work: `${of} longest task over 50 ms while ${work}`,
    figure: ms === 0 ? 'none' : formatMs(ms),
    target: 'none',
  }));
  const { filter, sort, typed } = run.answerMs;
  return [
    { work: `${of} first rows after`, figure: formatMs(run.firstRowsMs), target: '' },
    { work: `${of} all listed after`, figure: formatMs(run.listedMs), target: '' },
    ...tasks,
    {
      work: `${of} longest frame while scrolling`,
      figure: formatMs(run.longestFrameMs),
      target: 'under 50 ms',
    },
    {
      work: `${of} rows of a sort, a filter, a typed name after`,
      figure: [sort, filter, typed].map(formatMs).join(', '),
      target: '',
    },
    {
      work: `${of} JavaScript heap; whole process of the page`,
      figure: `${formatBytes(run.heapBytes)}; ${formatBytes(run.processBytes)}`,
      target: 'under 250 MB',
    },
  ];
}

async function pushFigures(browser: Browser, server: S3Server): Promise<readonly Row[]> {
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
      console.error(`push ${run}: command ${formatMs(cliMs.at(-1)!)}, window ${formatMs(windowMs.at(-1)!)}`);
    }
    const [cli, window] = [medianOf(cliMs.slice(1)), medianOf(windowMs.slice(1))];
    return [
      { work: 'push of 50,000 files, command line', figure: formatMs(cli), target: '' },
      { work: 'the same with the screen open', figure: formatMs(window), target: '' },
      { work: 'ratio', figure: (window / cli).toFixed(2), target: 'at most 1.1' },
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

function formatMs(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function checkName(name: string): FigureName {
  const known = FIGURES.find((figure) => figure === name);
  if (known) return known;
  throw new Error(`There is no figure "${name}": ${FIGURES.join(', ')}.`);
}

await main();
