/**
 * Measures what encryption costs: push and clone of an encrypted repository beside a plain one and beside
 * restic, on versitygw in memory. Prints a table.
 *
 *     npm run build && node bench/encryption.ts [--runs 5] [--json FILE]
 *
 * The three take turns, and each round begins with another one; ratios are those of one round. The first
 * round warms up and does not count.
 */
import { spawnSync } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { roomyFolder } from '../e2e/servers/memory-folder.ts';
import { startVersitygw } from '../e2e/servers/versitygw.ts';
import { fleetCircumstances, publishFigure, target } from './fleet/fleet-figure.ts';
import { medianOf } from './page/statistics.ts';

const DRAY = fileURLToPath(new URL('../dist/dray.js', import.meta.url));
const FILES = 10;
const FILE_BYTES = 100e6;
const RATIO_MAX = 1.25;
const PASSWORD = 'bench';

interface Spent {
  readonly wallMs: number;
  readonly cpuMs: number;
}
interface Turn {
  readonly push: Spent;
  readonly clone: Spent;
}
type Name = 'dray' | 'dray encrypted' | 'restic';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '5' }, json: { type: 'string' } },
});
const circumstances = fleetCircumstances();
const base = mkdtempSync(join(await roomyFolder(), 'dray-encryption-'));
const data = join(base, 'data');
const copy = join(base, 'copy');
await using server = await startVersitygw();
const environment = {
  ...process.env,
  ...server.environment,
  DRAY_AUTHOR: 'bench',
  DRAY_PASSWORD: PASSWORD,
  RESTIC_PASSWORD: PASSWORD,
};

function writeData(): void {
  mkdirSync(data);
  const stream = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16));
  for (let file = 0; file < FILES; file += 1)
    writeFileSync(join(data, `${file}`), stream.update(Buffer.alloc(FILE_BYTES)));
}

/** CPU time of processes that have ended, in steps of 10 ms. */
function cpuOfChildrenMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

function run(command: string, parameters: readonly string[]): Spent {
  const [cpuBefore, before] = [cpuOfChildrenMs(), performance.now()];
  const { status, stderr } = spawnSync(command, parameters, {
    cwd: data,
    encoding: 'utf8',
    env: environment,
  });
  const wallMs = performance.now() - before;
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')} failed: ${stderr}`);
  return { wallMs, cpuMs: cpuOfChildrenMs() - cpuBefore };
}

function checkCopy(folder: string): void {
  run('diff', ['-rq', '--exclude=.dray', data, folder]);
  rmSync(copy, { recursive: true });
}

function turnOfDray(prefix: string, options: readonly string[]): Turn {
  const url = `s3://${server.bucket}/${prefix}`;
  run(process.execPath, [DRAY, 'init', '-q', ...options, '--remote', url]);
  const push = run(process.execPath, [DRAY, 'push', '-q']);
  const clone = run(process.execPath, [DRAY, 'clone', '-q', url, copy]);
  rmSync(join(data, '.dray'), { recursive: true });
  checkCopy(copy);
  return { push, clone };
}

function turnOfRestic(prefix: string): Turn {
  const options = ['-q', '--no-cache', '-r', `s3:${server.endpoint}/${server.bucket}/${prefix}`];
  run('restic', [...options, 'init']);
  const push = run('restic', [...options, 'backup', '.']);
  const clone = run('restic', [...options, 'restore', 'latest', '--target', copy]);
  checkCopy(copy);
  return { push, clone };
}

const ENTRANTS: readonly (readonly [Name, (prefix: string) => Turn])[] = [
  ['dray', (prefix) => turnOfDray(prefix, [])],
  ['dray encrypted', (prefix) => turnOfDray(prefix, ['--encrypt'])],
  ['restic', turnOfRestic],
];

function measureRound(round: number): Readonly<Record<Name, Turn>> {
  const shift = round % ENTRANTS.length;
  const order = [...ENTRANTS.slice(shift), ...ENTRANTS.slice(0, shift)];
  const turns = order.map(([name, take], at): [Name, Turn] => {
    const prefix = `${round}-${at}`;
    const turn = take(prefix);
    rmSync(join(server.dataFolder, server.bucket, prefix), { recursive: true });
    return [name, turn];
  });
  return Object.fromEntries(turns) as Record<Name, Turn>;
}

type Rounds = readonly Readonly<Record<Name, Turn>>[];
const STEPS = ['push', 'clone'] as const;

/** Of the encrypted repository to another entrant, in the median of the rounds. */
function ratioOf(rounds: Rounds, step: (typeof STEPS)[number], other: Name, time: keyof Spent): number {
  return medianOf(rounds.map((round) => round['dray encrypted'][step][time] / round[other][step][time]));
}

function rowOf(rounds: Rounds, name: Name): readonly string[] {
  const seconds = (step: (typeof STEPS)[number], time: keyof Spent) =>
    `${(medianOf(rounds.map((round) => round[name][step][time])) / 1000).toFixed(2)} s`;
  return [name, ...STEPS.flatMap((step) => [seconds(step, 'wallMs'), seconds(step, 'cpuMs')])];
}

function targetsOf(rounds: Rounds) {
  return STEPS.flatMap((step) => {
    const [wall, cpu] = [ratioOf(rounds, step, 'dray', 'wallMs'), ratioOf(rounds, step, 'dray', 'cpuMs')];
    const beside = ratioOf(rounds, step, 'restic', 'wallMs');
    const besideCpu = ratioOf(rounds, step, 'restic', 'cpuMs');
    const reached = (ratio: number, ofCpu: number) => `${ratio.toFixed(2)} (by CPU time ${ofCpu.toFixed(2)})`;
    return [
      target(`${step} at most ${RATIO_MAX} of the plain one's time`, reached(wall, cpu), wall <= RATIO_MAX),
      target(`${step} ahead of restic`, `${reached(beside, besideCpu)} of its time`, beside < 1),
    ];
  });
}

try {
  writeData();
  const all = Array.from({ length: Number(values.runs) + 1 }, (_, round) => measureRound(round));
  const rounds = all.slice(1);
  publishFigure(
    {
      order: 0,
      title: 'Encryption: push and clone beside a plain repository and restic',
      text:
        `${FILES} files of random content, ${FILE_BYTES / 1e6} MB each. Source, store (versitygw) and clone are in ` +
        "memory. restic's backup and restore stand beside push and clone, without its cache. " +
        `Medians of ${rounds.length}; a ratio is the median of those of the rounds. CPU time is that of the client.`,
      command: 'npm run build && node bench/encryption.ts',
      circumstances: { ...circumstances, restic: resticVersion() },
      headings: ['entrant', 'push', 'CPU', 'clone', 'CPU'],
      rows: ENTRANTS.map(([name]) => rowOf(rounds, name)),
      targets: targetsOf(rounds),
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
