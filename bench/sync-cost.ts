/**
 * Measures the cost of syncing a clone to the disk before it ends. Clones one repository by this build and by
 * another one in turn, beside git and restic, all on one disk. Prints medians and ratios as Markdown.
 *
 *     npm run build && node bench/sync-cost.ts --other FOLDER [--runs 5] [--folder FOLDER] [--files 50000]
 *
 * `--other` is a built checkout of an earlier commit. The disk cache is written out before each run; only the
 * run is timed.
 */
import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { medianOf } from './page/statistics.ts';

const MIB = 1024 * 1024;
const SMALL_BYTES = 1024;
const LARGE_FILES = 10;
const LARGE_MIB = 100;
const FILES_IN_FOLDER = 500;

interface Entrant {
  readonly name: string;
  readonly command: string;
  readonly parameters: (to: string) => readonly string[];
}

const { values } = parseArgs({
  options: {
    other: { type: 'string' },
    runs: { type: 'string', default: '5' },
    folder: { type: 'string', default: tmpdir() },
    files: { type: 'string', default: '50000' },
  },
});
const runs = Number(values.runs);
const here = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(values.folder, 'dray-sync-cost-'));
try {
  measure(`${values.files} x 1 KiB`, (root) => writeFiles(root, Number(values.files), SMALL_BYTES));
  measure(`${LARGE_FILES} x ${LARGE_MIB} MiB`, (root) => writeFiles(root, LARGE_FILES, LARGE_MIB * MIB));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function measure(name: string, write: (root: string) => void): void {
  const work = join(folder, 'work');
  write(work);
  const entrants = prepare(work);
  const seconds = new Map(entrants.map((entrant) => [entrant.name, [] as number[]]));
  for (let run = 0; run < runs; run += 1) {
    // In another order each time, so that none always follows the same one.
    const order = [...entrants.slice(run % entrants.length), ...entrants.slice(0, run % entrants.length)];
    for (const entrant of order) seconds.get(entrant.name)!.push(timeOf(entrant));
  }
  const medians = new Map([...seconds].map(([of, each]) => [of, medianOf(each)]));
  const least = medians.get('earlier') ?? medians.get('this')!;
  console.log(
    `\nclone of ${name}, ${runs} runs\n\n| | median, s | of the earlier build's | all, s |\n| --- | --- | --- | --- |`,
  );
  for (const [of, each] of seconds) {
    const all = each.map((one) => one.toFixed(2)).join(' ');
    console.log(
      `| ${of} | ${medians.get(of)!.toFixed(2)} | ${(medians.get(of)! / least).toFixed(2)} | ${all} |`,
    );
  }
  for (const entry of ['work', 'store', 'git', 'restic'])
    rmSync(join(folder, entry), { recursive: true, force: true });
}

function prepare(work: string): readonly Entrant[] {
  const dray = (checkout: string, name: string): Entrant => ({
    name,
    command: process.execPath,
    parameters: (to) => [join(checkout, 'dist/dray.js'), '-q', 'clone', join(folder, 'store'), to],
  });
  const [git, restic] = [join(folder, 'git'), join(folder, 'restic')];
  run(process.execPath, join(here, 'dist/dray.js'), '-q', 'init', work, '--remote', join(folder, 'store'));
  run(process.execPath, join(here, 'dist/dray.js'), '-q', '-C', work, 'push');
  rmSync(join(work, '.dray'), { recursive: true });
  run('git', 'init', '-q', '--bare', git);
  const inGit = ['--git-dir', git, '--work-tree', work, '-c', 'user.name=x', '-c', 'user.email=x'];
  run('git', ...inGit, 'add', '-A');
  run('git', ...inGit, 'commit', '-q', '-m', 'x');
  run('restic', '-q', '-r', restic, 'init');
  run('restic', '-q', '-r', restic, 'backup', work);
  return [
    ...(values.other === undefined ? [] : [dray(resolve(values.other), 'earlier')]),
    dray(here, 'this'),
    { name: 'git clone', command: 'git', parameters: (to) => ['clone', '-q', git, to] },
    {
      name: 'restic restore',
      command: 'restic',
      parameters: (to) => ['-q', '-r', restic, 'restore', 'latest', '--target', to],
    },
  ];
}

function timeOf({ command, parameters }: Entrant): number {
  const to = join(folder, 'clone');
  run('sync');
  const startedMs = performance.now();
  run(command, ...parameters(to));
  const seconds = (performance.now() - startedMs) / 1000;
  rmSync(to, { recursive: true });
  return seconds;
}

function writeFiles(root: string, count: number, sizeBytes: number): void {
  const content = Buffer.alloc(sizeBytes);
  for (let at = 0; at < count; at += 1) {
    const path = join(root, `d${Math.floor(at / FILES_IN_FOLDER)}`, `f${at}`);
    if (at % FILES_IN_FOLDER === 0) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, randomFillSync(content));
  }
}

function run(command: string, ...parameters: readonly string[]): void {
  const environment = { ...process.env, DRAY_AUTHOR: 'bench', RESTIC_PASSWORD: 'bench' };
  const { error, status, stderr } = spawnSync(command, parameters, { encoding: 'utf8', env: environment });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')}: ${stderr}`);
}
