/** Merges and reverts of commits with entries that the workspace's disk cannot hold. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { merge } from '../../engine/jobs/merge/merge.ts';
import { revert } from '../../engine/jobs/merge/revert.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { switchBranch } from '../../engine/jobs/pull/switch.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { findWhyNoOddDisks, mountOddDisk, type OddDisk } from './odd-disk.ts';
import { jobBeside, readBranch } from './odd-jobs.ts';

const whyNot = findWhyNoOddDisks();
if (whyNot !== undefined)
  console.warn(`The tests of merges that a disk cannot hold are skipped: no FUSE disk here (${whyNot}).`);

const LONG = 'n'.repeat(150);
const NEW = 'm'.repeat(150);
let sandbox: Sandbox;
let disk: OddDisk;
/** Holds everything, on the branch `exp`. */
let other: string;
/** On the odd disk, on the branch `main`. */
let copy: string;
const jobIn = (folder: string) => jobBeside(sandbox, folder);
const isClean = async () =>
  expect(await status(jobIn(copy), {})).toMatchObject({ changes: { added: 0, modified: 0, deleted: 0 } });

describe.skipIf(whyNot !== undefined)('On a disk without links and long names', () => {
  beforeEach(async () => {
    sandbox = createSandbox();
    disk = await mountOddDisk({ symlinks: 'EPERM', nameBytesMax: 100 });
    other = sandbox.path('other');
    copy = join(disk.path, 'copy');
    for (const path of ['a', 'b', LONG]) sandbox.write(`other/${path}`, `first ${path}`);
    symlinkSync('a', join(other, 'link'));
    await initWorkspace(jobIn(other), { remoteUrl: sandbox.path('store') });
    await push(jobIn(other), {});
    await cloneWorkspace(jobIn(disk.path), { url: sandbox.path('store'), directory: 'copy' });
    await switchBranch(jobIn(other), { name: 'exp', create: true });
  });
  afterEach(async () => {
    await disk?.[Symbol.asyncDispose]();
    sandbox?.[Symbol.dispose]();
  });

  /** Changes what the disk cannot hold, and `a`. @returns The commit. */
  async function changeUnheld(): Promise<string> {
    writeFileSync(join(other, 'a'), 'exp');
    writeFileSync(join(other, LONG), 'exp');
    writeFileSync(join(other, NEW), 'new');
    rmSync(join(other, 'link'));
    symlinkSync('b', join(other, 'link2'));
    return (await push(jobIn(other), {})).commit!;
  }

  it('a merge records what the other branch changed there, and the rest is merged here', async () => {
    const exp = await changeUnheld();
    writeFileSync(join(copy, 'b'), 'main');
    await push(jobIn(copy), {});
    expect(await merge(jobIn(copy), { ref: 'exp' })).toMatchObject({ result: 'merged' });
    expect(readFileSync(join(copy, 'a'), 'utf8')).toBe('exp');
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'pushed', merged: exp, failed: 0 });
    writeFileSync(join(other, 'b'), 'main');
    expect(await readBranch(sandbox, 'main')).toEqual(describeTree(other, { times: false }));
    await isClean();
    expect(await merge(jobIn(copy), { ref: 'exp' })).toMatchObject({ result: 'upToDate' });
  });

  it('a merge whose both sides changed such an entry is refused with a way out, and sends nothing', async () => {
    await changeUnheld();
    await switchBranch(jobIn(other), { name: 'main' });
    writeFileSync(join(other, LONG), 'main');
    const main = (await push(jobIn(other), {})).commit;
    await cloneWorkspace(jobIn(disk.path), { url: sandbox.path('store'), directory: 'late' });
    copy = join(disk.path, 'late');
    const failed = async (job: Promise<unknown>) => await job.catch((error: unknown) => error);
    const merged = await failed(merge(jobIn(copy), { ref: 'exp' }));
    expect(merged instanceof Error ? merged : await failed(push(jobIn(copy), {}))).toMatchObject({
      code: 'conflict',
      data: { paths: [LONG], reason: 'outsideScope' },
    });
    await merge(jobIn(copy), { abort: true });
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'nothingToPush', commit: main });
    await isClean();
  });

  it('the abort of a merge leaves what is not here as the branch has it', async () => {
    await changeUnheld();
    await merge(jobIn(copy), { ref: 'exp' });
    expect(await merge(jobIn(copy), { abort: true })).toMatchObject({ result: 'aborted', failed: 0 });
    await isClean();
    writeFileSync(join(copy, 'b'), 'mine');
    expect(await push(jobIn(copy), {})).toMatchObject({ changes: { added: 0, modified: 1, deleted: 0 } });
    await switchBranch(jobIn(other), { name: 'main' });
    expect(await readBranch(sandbox, 'main')).toEqual(describeTree(other, { times: false }));
  });

  it('a revert records what it takes back there', async () => {
    const first = describeTree(other, { times: false });
    const exp = await changeUnheld();
    await switchBranch(jobIn(copy), { name: 'exp' });
    expect(await revert(jobIn(copy), { ref: exp })).toMatchObject({ result: 'reverted' });
    expect(readFileSync(join(copy, 'a'), 'utf8')).toBe('first a');
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'pushed', failed: 0 });
    expect(await readBranch(sandbox, 'exp')).toEqual(first);
    await isClean();
  });
});
