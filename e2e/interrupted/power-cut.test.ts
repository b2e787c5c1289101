/**
 * Cuts the power while a command writes or after it has ended. The same command, run again, then reaches the
 * exact state. Until then status reports every damaged file, and no push records one.
 *
 * Makes 1 cut in `npm test` and 12 in `npm run test:long`. `DRAY_POWER_CUTS=50` makes more,
 * `DRAY_POWER_SEED` makes others.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { randomFrom } from '../mixed-tree.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { findWhyNoLoopDisks, type LoopDisks, openLoopDisks } from './loop-disk.ts';
import { type PowerCutBed, type PowerCutJob, type PowerCutSetup, setUpPowerCuts } from './power-cut-jobs.ts';

const CUTS = Number(process.env.DRAY_POWER_CUTS ?? runBudget({ short: 1, long: 12 }));
const SEED = Number(process.env.DRAY_POWER_SEED ?? 1);
/** In the order of `setUpPowerCuts`. */
const NAMES = ['clone', 'pull', 'copy', 'sync', 'restore', 'push to file:', 'scope clear'] as const;
const TRIED = NAMES.slice(0, CUTS);
/**
 * With these options ext4 may write metadata before content, so a cut leaves empty files, or, without ordered
 * data, files of zeros.
 */
const MOUNT_OPTIONS = ['commit=1', 'data=writeback,nodelalloc', 'nodelalloc', 'defaults'];
/** The part of the cuts that come after the command has ended. */
const LATE_PART = 0.3;
/** The event that shows that a command begins to write. */
const WRITES = /"phase":"(download|write|upload|commit)"/;

const whyNot = findWhyNoLoopDisks();
if (whyNot !== undefined)
  console.warn(`The power-cut tests are skipped: no disk can be mounted here (${whyNot}).`);

let sandbox: Sandbox;
let disks: LoopDisks;
let server: S3Server;
let setup: PowerCutSetup;
const counted = { during: 0, after: 0, damaged: 0, damagedFiles: 0 };

describe.skipIf(whyNot !== undefined)(`A command after a power cut (${CUTS} cuts, seed ${SEED})`, () => {
  beforeAll(async () => {
    sandbox = createSandbox();
    disks = openLoopDisks();
    server = await startVersitygw();
    setup = await setUpPowerCuts(sandbox, disks, server, TRIED);
  });
  afterAll(async () => {
    const { after, damaged, damagedFiles, during } = counted;
    console.log(
      `${during + after} cuts: ${during} while the command ran, ${after} after its end; ${damaged} left damaged files, ${damagedFiles} in all.`,
    );
    await disks?.[Symbol.asyncDispose]();
    await server?.stop();
    sandbox?.[Symbol.dispose]();
  });

  it.each(TRIED.map((name, at) => ({ name, at })))(
    'reaches the exact state when it runs again: $name',
    async ({ name, at }) => {
      const { bed, jobs } = setup;
      const job = jobs.find((each) => each.name === name)!;
      const random = randomFrom(SEED * 1_000 + at);
      const writingMs = await timeOf(bed, job);
      for (let cut = 0; cut * NAMES.length + at < CUTS; cut += 1)
        await cutAndGoOn(bed, job, random, writingMs);
    },
  );
});

/** Returns how long an uninterrupted run writes, in milliseconds. */
async function timeOf(bed: PowerCutBed, job: PowerCutJob): Promise<number> {
  begin(bed, job, 'defaults');
  let startedMs = performance.now();
  const result = await bed.dray([...job.parameters, '--json'], {
    onStarted: (child) =>
      onWriting(child, () => {
        startedMs = performance.now();
      }),
  });
  const writingMs = performance.now() - startedMs;
  await expectEnd(bed, job, result.stderr);
  bed.disks.unmount();
  return writingMs;
}

function onWriting(child: ChildProcess, onFirst: () => void): void {
  const look = (text: string) => {
    if (!WRITES.test(text)) return;
    child.stdout?.off('data', look);
    onFirst();
  };
  child.stdout?.on('data', look);
}

function begin({ disks }: PowerCutBed, { template }: PowerCutJob, options: string): void {
  // Removes the cache of an earlier run on this disk.
  rmSync(sandbox.path('cache'), { recursive: true, force: true });
  // A failed test may have left its disk mounted.
  disks.unmount();
  disks.copy(template, 'running');
  disks.mount('running', options);
}

async function cutAndGoOn(
  bed: PowerCutBed,
  job: PowerCutJob,
  random: () => number,
  writingMs: number,
): Promise<void> {
  const options = MOUNT_OPTIONS[Math.floor(random() * MOUNT_OPTIONS.length)]!;
  begin(bed, job, options);
  const isDuring = await runAndKill(bed, job, random, writingMs);
  await bed.disks.cut('cut');
  bed.disks.unmount();
  bed.disks.mount('cut', options);
  counted[isDuring ? 'during' : 'after'] += 1;
  const damaged = damagedFiles(bed, job);
  if (damaged.length > 0) {
    counted.damaged += 1;
    counted.damagedFiles += damaged.length;
    if (job.isWorkspace) await expectKnown(bed, job, damaged);
  }
  const where = `${job.name}, mounted with ${options}, cut ${isDuring ? 'while it ran' : 'after its end'}`;
  const again = await bed.dray(job.parameters);
  if (!isDoneAlready(again)) expect(again.exitCode, `${where}: ${again.stderr}`).toBe(0);
  await expectEnd(bed, job, where);
  bed.disks.unmount();
}

/** True for a clone that had already ended. */
const isDoneAlready = ({ stderr }: { readonly stderr: string }): boolean =>
  stderr.includes('is a workspace already');

/** Returns whether the command still ran at the cut. */
async function runAndKill(
  { disks, dray }: PowerCutBed,
  job: PowerCutJob,
  random: () => number,
  writingMs: number,
): Promise<boolean> {
  const isLate = random() < LATE_PART;
  const killAfterMs = random() * writingMs;
  const ended = dray([...job.parameters, '--json'], {
    onStarted: (child) => {
      if (isLate) return;
      onWriting(child, () => {
        const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
        child.once('exit', () => clearTimeout(timer));
      });
    },
  });
  let exitCode: number | null | undefined;
  void ended.then((result) => {
    exitCode = result.exitCode;
  });
  while (exitCode === undefined) {
    await pause(5 + random() * 50);
    if (random() < 0.5) disks.syncAnotherFile();
  }
  if (random() < 0.8) disks.syncAnotherFile();
  return exitCode !== 0;
}

/** Files with neither their old nor their new content. */
function damagedFiles({ wholeLines }: PowerCutBed, { root }: PowerCutJob): readonly string[] {
  if (!existsSync(root)) return [];
  return describeTree(root)
    .filter((line) => !line.endsWith('/') && !wholeLines.has(line) && !line.startsWith('.dray-tmp'))
    .filter((line) => !line.endsWith(EDITED))
    .map((line) => line.split(' ')[0]!);
}

/** The content of the edited file in restore's template. */
const EDITED = ` ${Buffer.from('edited').toString('base64')}`;

/** @param damaged Paths as `describeTree` prints them. */
async function expectKnown(
  bed: PowerCutBed,
  { root }: PowerCutJob,
  damaged: readonly string[],
): Promise<void> {
  if (!existsSync(join(root, '.dray/config.json'))) return;
  if (existsSync(join(root, '.dray/state.json')) && hasScope(root)) {
    const dryRun = await bed.dray(['-C', root, 'push', '--dry-run', '--json']);
    expect(dryRun.stdout, 'a push of files that are not taken in').toContain('"result":"nothingToPush"');
    return;
  }
  const { exitCode, stderr, stdout } = await bed.dray(['-C', root, 'status', '--json']);
  expect(exitCode, stderr).toBe(0);
  const changed = new Set(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; path?: string })
      .flatMap(({ path, type }) => (type === 'change' && path !== undefined ? [path] : [])),
  );
  expect(
    damaged.filter((path) => !changed.has(path)),
    'damaged files that status does not report',
  ).toEqual([]);
  const { exitCode: pushed } = await bed.dray(['-C', root, 'push', '--dry-run']);
  expect(pushed, 'a push of damaged files').not.toBe(0);
}

/** What it does not hold yet, it neither reports nor pushes. */
const hasScope = (root: string): boolean =>
  JSON.parse(readFileSync(join(root, '.dray/state.json'), 'utf8')).scope !== undefined;

async function expectEnd(bed: PowerCutBed, job: PowerCutJob, where: string): Promise<void> {
  expect(differences(describeTree(job.root), bed.endLines), where).toEqual([]);
  await job.check?.();
}

function differences(is: readonly string[], shall: readonly string[]): readonly string[] {
  const [left, right] = [new Set(is), new Set(shall)];
  return [
    ...is.filter((line) => !right.has(line)).map((line) => `is: ${line.slice(0, 100)}`),
    ...shall.filter((line) => !left.has(line)).map((line) => `shall be: ${line.slice(0, 100)}`),
  ].slice(0, 10);
}
