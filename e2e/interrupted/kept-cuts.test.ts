/**
 * A pull that takes theirs is killed before each of its changes to the file system, and the power is cut
 * there. At each such moment an overwritten file is at its path or in the bin, with all of its content.
 */
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type KillSweep, STEPS, sweepKills } from './killed-command.ts';
import { findWhyNoLoopDisks, openLoopDisks } from './loop-disk.ts';

/** The pull is killed before every so many steps, and before the important ones. */
const STRIDE = runBudget({ short: 12, long: 1 });
/** A cut of the power takes the time of three kills. */
const CUT_STRIDE = runBudget({ short: 21, long: 1 });
const CHANGED = ['a.txt', 'deep/b.txt', 'deep/er/large.bin'];
const DELETED = ['gone-1.txt', 'gone-2.txt', 'gone/3.txt'];
const PATHS = [...CHANGED, ...DELETED];
/** Different lengths, one of them long. */
const mine = (path: string) => `mine of ${path}\n`.repeat(path.endsWith('.bin') ? 100_000 : 50);
const PULL = ['pull', '--theirs', '--json'];

const whyNot = findWhyNoLoopDisks();
if (whyNot !== undefined) console.warn(`No power is cut: no disk can be mounted here (${whyNot}).`);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox();
  const work = sandbox.path('work');
  for (const path of PATHS) sandbox.write(`work/${path}`, 'base');
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
  await push(testContext(work), {});
  await cloneWorkspace(testContext(sandbox.folder), {
    url: sandbox.path('store'),
    directory: sandbox.path('before'),
  });
  for (const path of CHANGED) sandbox.write(`work/${path}`, 'theirs');
  for (const path of DELETED) rmSync(sandbox.path('work', path));
  await push(testContext(work), {});
});
afterAll(() => sandbox?.[Symbol.dispose]());

/** A workspace from before their push, with mine in every file. @returns The inodes of mine. */
function begin(root: string): ReadonlyMap<string, number> {
  rmSync(root, { recursive: true, force: true });
  cpSync(sandbox.path('before'), root, { recursive: true });
  return new Map(
    PATHS.map((path) => {
      writeFileSync(join(root, path), mine(path));
      return [path, lstatSync(join(root, path)).ino];
    }),
  );
}

/** Kills a pull of a fresh workspace before one step after the other. */
function sweepPulls(
  root: string,
  sweep: Pick<KillSweep, 'important' | 'stride'>,
  check: (where: string, inodes: ReadonlyMap<string, number>) => Promise<void>,
): Promise<void> {
  let inodes: ReadonlyMap<string, number>;
  return sweepKills({
    ...sweep,
    parameters: PULL,
    options: { cwd: root },
    least: 3,
    begin: () => {
      inodes = begin(root);
    },
    check: (where) => check(where, inodes),
  });
}

/** The contents that the bin has for a path. */
function inBin(root: string, path: string): readonly string[] {
  const bin = join(root, '.dray/kept');
  const runs = existsSync(bin) ? readdirSync(bin) : [];
  const files = runs.map((run) => join(bin, run, 'files', path));
  return files.flatMap((file) => (existsSync(file) ? [readFileSync(file, 'utf8')] : []));
}

describe('A pull that takes theirs', () => {
  it('has every overwritten file at its path or in the bin, whenever it is killed', async () => {
    const root = sandbox.path('killed');
    const inTheMiddle = [
      /^link .*\/gone-2\.txt .*\/kept\//,
      /^unlink .*\/gone-2\.txt$/,
      /^rename .*\/deep\/b\.txt$/,
    ];
    const important = [...inTheMiddle, STEPS.stateWritten, STEPS.unmarked];
    await sweepPulls(root, { important, stride: STRIDE }, async (where) => {
      for (const path of PATHS) {
        const live = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
        expect([live, ...inBin(root, path)], `${path}, ${where}`).toContain(mine(path));
      }
      // The same pull, run again, ends it, and loses nothing either.
      await pull(testContext(root), { conflicts: 'theirs' });
      for (const path of PATHS) expect(inBin(root, path), `${path}, ${where}`).toContain(mine(path));
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('theirs');
    });
  });

  it.skipIf(whyNot !== undefined)(
    'has all of what it replaced in the bin after a power cut, also of files that nothing had synced',
    async () => {
      await using disks = openLoopDisks();
      disks.make('disk', 64);
      // Names then reach the disk before content.
      const options = 'data=writeback,nodelalloc';
      disks.mount('disk', options);
      const root = join(disks.mountPoint, 'work');
      let replaced = 0;
      const important = [STEPS.stateWritten, STEPS.unlocked];
      await sweepPulls(root, { important, stride: CUT_STRIDE }, async (where, inodes) => {
        disks.syncAnotherFile();
        await disks.cut('after');
        disks.mount('after');
        for (const [path, inode] of inodes) {
          if (lstatSync(join(root, path), { throwIfNoEntry: false })?.ino === inode) continue;
          replaced += 1;
          expect(inBin(root, path), `${path}, cut after it was ${where}`).toContain(mine(path));
        }
        disks.mount('disk', options);
      });
      disks.unmount();
      expect(replaced).toBeGreaterThan(PATHS.length);
    },
  );
});
