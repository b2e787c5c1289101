/**
 * Measures what compression stores and costs, beside restic: bytes on the store of tables, JSON, logs and
 * source text, and the push of random content with and without. The store is a folder. Prints a table.
 *
 *     npm run build && node bench/compression.ts [--runs 5] [--json FILE]
 *
 * The content is the same in each run. restic compresses as it does by default, and with its `max`.
 */
import { spawnSync } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { formatBytes } from '../engine/api/text/numbers.ts';
import { createTextLines } from './data/text-lines.ts';
import { fleetCircumstances, publishFigure, target } from './fleet/fleet-figure.ts';
import { medianOf } from './page/statistics.ts';

const DRAY = fileURLToPath(new URL('../dist/dray.js', import.meta.url));
const SOURCES = fileURLToPath(new URL('../node_modules/', import.meta.url));
const RATIO_MAX = 1.1;
const LOSS_MAX = 1.03;
const MIB = 1024 * 1024;

const { line, record, row } = createTextLines(23);

/** Files of several sizes, from 20 KB to one that is cut into chunks. */
function writeKind(folder: string, name: string, each: (at: number) => string): void {
  mkdirSync(folder, { recursive: true });
  let at = 0;
  const write = (file: string, bytes: number) => {
    const lines: string[] = [];
    for (let size = 0; size < bytes; at += 1) {
      const next = each(at);
      lines.push(next);
      size += next.length;
    }
    writeFileSync(join(folder, file), lines.join(''));
  };
  for (let file = 0; file < 60; file += 1) write(`${file}.${name}`, 20_000 * (1 + (file % 40)));
  write(`large.${name}`, 80 * MIB);
}

function writeSources(folder: string): void {
  for (const name of ['valibot', 'typescript', 'fast-check', 'react-dom', '@types/node', 'commander'])
    cpSync(join(SOURCES, name), join(folder, name), {
      recursive: true,
      dereference: true,
      filter: (path) => statSync(path).isDirectory() || /\.(?:js|cjs|mjs|ts|cts|mts|json|md)$/.test(path),
    });
}

function writeRandom(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const stream = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16));
  for (let file = 0; file < 6; file += 1)
    writeFileSync(join(folder, `${file}`), stream.update(Buffer.alloc(100e6)));
  for (let file = 0; file < 5_000; file += 1)
    writeFileSync(
      join(folder, `small-${file}`),
      stream.update(Buffer.alloc(200 + ((file * 7_919) % 20_000))),
    );
}

function bytesBelow(folder: string): number {
  const items = readdirSync(folder, { recursive: true, withFileTypes: true });
  return items.reduce(
    (sum, item) => sum + (item.isFile() ? statSync(join(item.parentPath, item.name)).size : 0),
    0,
  );
}

function run(command: string, parameters: readonly string[], cwd: string): void {
  const environment = { ...process.env, RESTIC_PASSWORD: 'bench', DRAY_AUTHOR: 'bench' };
  const { status, stderr } = spawnSync(command, parameters, { cwd, encoding: 'utf8', env: environment });
  if (status !== 0) throw new Error(`${command} ${parameters[0]} failed: ${stderr}`);
}

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '5' }, json: { type: 'string' } },
});
const circumstances = fleetCircumstances();
const base = mkdtempSync(join(tmpdir(), 'dray-compression-'));

/** CPU time of processes that have ended, in steps of 10 ms. */
function cpuOfChildrenMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

interface Stored {
  readonly bytes: number;
  readonly cpuMs: number;
}

function pushByDray(data: string, compress: string): Stored {
  const store = join(base, 'store');
  rmSync(store, { recursive: true, force: true });
  run(process.execPath, [DRAY, 'init', '-q', '--compress', compress, '--remote', `file://${store}`], data);
  const before = cpuOfChildrenMs();
  run(process.execPath, [DRAY, 'push', '-q'], data);
  const cpuMs = cpuOfChildrenMs() - before;
  rmSync(join(data, '.dray'), { recursive: true, force: true });
  return { bytes: bytesBelow(store), cpuMs };
}

function backupByRestic(data: string, compress: string): Stored {
  const store = join(base, 'restic');
  rmSync(store, { recursive: true, force: true });
  const options = ['-q', '--no-cache', '-r', store];
  run('restic', [...options, 'init', '--repository-version', '2'], data);
  const before = cpuOfChildrenMs();
  run('restic', [...options, '--compression', compress, 'backup', '.'], data);
  return { bytes: bytesBelow(store), cpuMs: cpuOfChildrenMs() - before };
}

const KINDS: Readonly<Record<string, (folder: string) => void>> = {
  CSV: (folder) => writeKind(folder, 'csv', row),
  'lines of JSON': (folder) => writeKind(folder, 'jsonl', record),
  logs: (folder) => writeKind(folder, 'log', line),
  'source text': writeSources,
};

function measureKind([name, write]: [string, (folder: string) => void]) {
  const data = join(base, 'data');
  write(data);
  const plainBytes = bytesBelow(data);
  const auto = pushByDray(data, 'auto');
  const resticAuto = backupByRestic(data, 'auto');
  const max = pushByDray(data, 'max');
  const resticMax = backupByRestic(data, 'max');
  rmSync(data, { recursive: true });
  const [ratio, ratioMax] = [auto.bytes / resticAuto.bytes, max.bytes / resticMax.bytes];
  const cpu = ({ cpuMs }: Stored) => `${(cpuMs / 1000).toFixed(1)} s`;
  return {
    ratio,
    row: [
      ...[
        name,
        formatBytes(plainBytes),
        formatBytes(auto.bytes),
        formatBytes(resticAuto.bytes),
        ratio.toFixed(2),
      ],
      ...[`${cpu(auto)}, ${cpu(resticAuto)}`, formatBytes(max.bytes), formatBytes(resticMax.bytes)],
      ...[ratioMax.toFixed(2), `${cpu(max)}, ${cpu(resticMax)}`],
    ],
  };
}

/** Alternating runs; the CPU time of both, because other programs run on the machine. */
function measureRandom(): { readonly loss: number; readonly offMs: number; readonly autoMs: number } {
  const data = join(base, 'data');
  writeRandom(data);
  const times: Record<'off' | 'auto', number[]> = { off: [], auto: [] };
  for (let at = 0; at < Number(values.runs); at += 1)
    for (const compress of ['off', 'auto'] as const) times[compress].push(pushByDray(data, compress).cpuMs);
  rmSync(data, { recursive: true });
  const [offMs, autoMs] = [medianOf(times.off), medianOf(times.auto)];
  return { loss: autoMs / offMs, offMs, autoMs };
}

try {
  const kinds = Object.entries(KINDS).map(measureKind);
  const worst = Math.max(...kinds.map(({ ratio }) => ratio));
  const { autoMs, loss, offMs } = measureRandom();
  publishFigure(
    {
      order: 0,
      title: 'Compression: bytes on the store beside restic',
      text:
        'Sixty files of 20 to 800 KB and one of 80 MiB of each kind, the sources of six packages, and random ' +
        'content: 6 files of 100 MB and 5,000 of 0.2 to 20 KB. The store is a folder; all of its bytes count. ' +
        "`auto` is the default of both programs. The times are those of the processors, Dray's first.",
      command: 'npm run build && node bench/compression.ts',
      circumstances: { ...circumstances, restic: resticVersion() },
      headings: [
        ...['content', 'plain', '`auto`', 'restic', 'ratio', 'CPU', '`max`', 'restic `max`', 'ratio', 'CPU'],
      ],
      rows: kinds.map(({ row }) => row),
      targets: [
        target(`at most ${RATIO_MAX} of restic's bytes by default`, worst.toFixed(2), worst <= RATIO_MAX),
        target(
          `at most 3 % of a push of random content lost (median of ${values.runs})`,
          `${(autoMs / 1000).toFixed(2)} s of CPU with, ${(offMs / 1000).toFixed(2)} s without: ${((loss - 1) * 100).toFixed(1)} %`,
          loss <= LOSS_MAX,
        ),
      ],
      notes: [],
    },
    values.json,
  );
} finally {
  rmSync(base, { recursive: true, force: true });
}

function resticVersion(): string {
  return spawnSync('restic', ['version'], { encoding: 'utf8' }).stdout.split(' ')[1] ?? 'unknown';
}
