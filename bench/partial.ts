/**
 * Measures a clone of one folder of a hundred beside a whole clone: time, CPU time and requests. Both take
 * turns. The store is a folder. Prints a table.
 *
 *     npm run build && node bench/partial.ts [--files 1000000] [--runs 3] [--json FILE]
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { PullSummary } from '../engine/api/jobs/jobs.ts';
import { formatCount, formatPlural } from '../engine/api/text/numbers.ts';
import { fleetCircumstances, publishFigure, target } from './fleet/fleet-figure.ts';
import { medianOf } from './page/statistics.ts';

const DRAY = fileURLToPath(new URL('../dist/dray.js', import.meta.url));
const FOLDERS = 100;
const PART = 'part-42';
const SHARE_MAX = 0.05;
/** Besides those for the data. */
const REQUESTS_MAX = 20;

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
});
const files = Number(values.files);
const circumstances = fleetCircumstances();
const base = mkdtempSync(join(tmpdir(), 'dray-partial-'));
const store = join(base, 'store');

function run(parameters: readonly string[], cwd: string): string {
  const environment = { ...process.env, DRAY_AUTHOR: 'bench' };
  const { status, stderr, stdout } = spawnSync(process.execPath, [DRAY, ...parameters], {
    cwd,
    encoding: 'utf8',
    env: environment,
  });
  if (status !== 0) throw new Error(`dray ${parameters[0]} failed: ${stderr}`);
  return stdout;
}

/** CPU time of processes that have ended, in steps of 10 ms. */
function cpuOfChildrenMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

function pushData(): void {
  const data = join(base, 'data');
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    const path = join(data, `part-${String(folder).padStart(2, '0')}`);
    mkdirSync(path, { recursive: true });
    for (let at = 0; at < files / FOLDERS; at += 1)
      writeFileSync(join(path, `${at}.txt`), `file ${at} of ${folder}`);
  }
  run(['init', '-q', '--remote', `file://${store}`], data);
  run(['push', '-q'], data);
  rmSync(data, { recursive: true });
}

interface Cloned {
  readonly ms: number;
  readonly cpuMs: number;
  readonly requests: number;
  readonly files: number;
}

function clone(more: readonly string[]): Cloned {
  const copy = join(base, 'copy');
  const [started, cpu] = [performance.now(), cpuOfChildrenMs()];
  const printed = run(['clone', `file://${store}`, copy, '--json', ...more], base);
  const [ms, cpuMs] = [performance.now() - started, cpuOfChildrenMs() - cpu];
  const summary: PullSummary = JSON.parse(printed.trimEnd().split('\n').at(-1)!);
  rmSync(copy, { recursive: true });
  return { ms, cpuMs, requests: summary.requests.total, files: summary.changes.added };
}

function packsOnStore(): number {
  return readdirSync(join(store, 'packs'), { recursive: true, withFileTypes: true }).filter((item) =>
    item.isFile(),
  ).length;
}

try {
  pushData();
  const clones = { whole: [] as Cloned[], part: [] as Cloned[] };
  for (let at = 0; at < Number(values.runs); at += 1) {
    clones.part.push(clone(['--only', PART]));
    clones.whole.push(clone([]));
  }
  const share = medianOf(clones.part.map(({ ms }, at) => ms / clones.whole[at]!.ms));
  const requests = clones.part[0]!.requests;
  const row = (name: string, runs: readonly Cloned[]) => [
    name,
    formatCount(runs[0]!.files),
    `${(medianOf(runs.map(({ ms }) => ms)) / 1000).toFixed(2)} s`,
    `${(medianOf(runs.map(({ cpuMs }) => cpuMs)) / 1000).toFixed(2)} s`,
    `${runs[0]!.requests}`,
  ];
  publishFigure(
    {
      order: 0,
      title: 'A clone of one folder of a hundred',
      text:
        `${formatCount(files)} files of about 16 bytes in ${FOLDERS} folders, in ${formatPlural(packsOnStore(), 'pack')}. The store is a ` +
        `folder. Medians of ${values.runs} runs in turn; the share is that of each pair.`,
      command: 'npm run build && node bench/partial.ts',
      circumstances,
      headings: ['clone', 'files', 'time', 'CPU', 'requests'],
      rows: [row('whole', clones.whole), row(`\`--only ${PART}\``, clones.part)],
      targets: [
        target(`at most ${SHARE_MAX} of the time of a whole clone`, share.toFixed(3), share <= SHARE_MAX),
        target(
          `at most ${REQUESTS_MAX} requests, those for data included`,
          `${requests}`,
          requests <= REQUESTS_MAX,
        ),
      ],
      notes: [],
    },
    values.json,
  );
} finally {
  rmSync(base, { recursive: true, force: true });
}
