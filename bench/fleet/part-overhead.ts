/**
 * Measures the cost of dividing the work: one process copies a bucket to another server by parts, as the only
 * worker of a fleet, beside `dray copy` of the same. Both run from the sources, without Temporal. Prints
 * medians, ratios and requests as Markdown.
 *
 *     node bench/fleet/part-overhead.ts [--files 100000] [--part-files 20000] [--slots 1,2] [--runs 3]
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type S3Server, startVersitygw } from '../../e2e/servers/versitygw.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { medianOf } from '../page/statistics.ts';
import { runSlots } from './run-slots.ts';

const FILES_IN_FOLDER = 500;
const FILE_BYTES = 1024;

interface Child {
  readonly place: 'copy' | number;
  readonly from: string;
  readonly to: string;
  readonly partFiles: number;
  readonly cache: string;
}

interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly requests: number;
  readonly parts: number;
  readonly ranges: number;
}

const child = process.env.DRAY_BENCH_CHILD;
if (child !== undefined) process.send!(await measureHere(JSON.parse(child) as Child));
else await main();

async function measureHere({ cache, from, partFiles, place, to }: Child): Promise<Measured> {
  const context: JobContext = {
    directory: tmpdir(),
    connection: {},
    environment: { ...process.env, DRAY_CACHE: cache },
    signal: new AbortController().signal,
    emit: () => {},
  };
  const pair = { source: { place: from }, destination: { place: to } };
  const begunMs = performance.now();
  const done =
    place === 'copy'
      ? { requests: (await copyTree(context, pair)).requests.total, parts: 1, ranges: 1 }
      : await runSlots({
          context,
          id: 'bench',
          request: { kind: 'copy', ...pair, partFilesMax: partFiles },
          slots: place,
        }).then(({ counts, parts, ranges }) => ({ requests: counts.requests, parts, ranges }));
  const { systemCPUTime, userCPUTime } = process.resourceUsage();
  return {
    ...done,
    seconds: (performance.now() - begunMs) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      files: { type: 'string', default: '100000' },
      'part-files': { type: 'string', default: '20000' },
      slots: { type: 'string', default: '1,2' },
      runs: { type: 'string', default: '3' },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'dray-fleet-bench-'));
  const first = await startVersitygw();
  const second = await startVersitygw({ secretAccessKey: first.secretAccessKey });
  try {
    await fill(first, folder, Number(values.files));
    const entrants: readonly Child['place'][] = ['copy', ...values.slots.split(',').map(Number)];
    const results = new Map<Child['place'], Measured[]>(entrants.map((place) => [place, []]));
    for (let run = 0; run < Number(values.runs); run += 1)
      for (const place of entrants) {
        const to = `${run}-${place}`;
        const measured = await measureChild(first, {
          place,
          from: placeOn(first, 'source'),
          to: placeOn(second, to),
          partFiles: Number(values['part-files']),
          cache: join(folder, to),
        });
        results.get(place)!.push(measured);
        rmSync(join(second.dataFolder, second.bucket, to), { recursive: true });
      }
    print(results, Number(values.files));
  } finally {
    await Promise.all([first.stop(), second.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function placeOn({ bucket, endpoint }: S3Server, prefix: string): string {
  return `s3://${bucket}/${prefix}/?endpoint=${endpoint}`;
}

/** Through the server, which notes etags. */
async function fill(server: S3Server, folder: string, files: number): Promise<void> {
  const tree = join(folder, 'tree');
  for (let at = 0; at < files; at += 1) {
    const own = join(tree, String(Math.floor(at / FILES_IN_FOLDER)).padStart(5, '0'));
    if (at % FILES_IN_FOLDER === 0) mkdirSync(own, { recursive: true });
    writeFileSync(join(own, `${at}.bin`), Buffer.alloc(FILE_BYTES, `${at} `));
  }
  const context: JobContext = {
    directory: folder,
    connection: {},
    environment: { ...server.environment, DRAY_CACHE: join(folder, 'cache') },
    signal: new AbortController().signal,
    emit: () => {},
  };
  await copyTree(context, { source: { place: tree }, destination: { place: placeOn(server, 'source') } });
  rmSync(tree, { recursive: true });
}

function measureChild({ environment }: S3Server, asked: Child): Promise<Measured> {
  const script = fileURLToPath(import.meta.url);
  const started = spawn(process.execPath, [script], {
    env: { ...process.env, ...environment, DRAY_BENCH_CHILD: JSON.stringify(asked) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    started.once('message', (measured) => resolve(measured as Measured));
    started.once('error', reject);
    started.once('exit', (code) => {
      if (code !== 0) reject(new Error(`The run ended with ${code}.`));
    });
  });
}

function print(results: ReadonlyMap<Child['place'], readonly Measured[]>, files: number): void {
  const median = (place: Child['place'], of: keyof Measured) =>
    medianOf(results.get(place)!.map((measured) => measured[of]));
  const ratio = (place: Child['place'], of: keyof Measured) =>
    (median(place, of) / median('copy', of)).toFixed(2);
  console.log(`| ${files} objects of 1 KiB | s | ratio | CPU s | ratio | requests | ranges | parts |`);
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
  for (const place of results.keys()) {
    const name = place === 'copy' ? 'dray copy' : `by parts, ${place} at once`;
    const times = (['seconds', 'cpuSeconds'] as const).map(
      (of) => `${median(place, of).toFixed(1)} | ${ratio(place, of)}`,
    );
    const counts = (['requests', 'ranges', 'parts'] as const).map((of) => median(place, of));
    console.log(`| ${[name, ...times, ...counts].join(' | ')} |`);
  }
}
