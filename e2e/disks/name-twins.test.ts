/** Names that differ in case, on a disk on which they are one. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { switchBranch } from '../../engine/jobs/pull/switch.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { restore } from '../../engine/jobs/working-copy/restore.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { findWhyNoOddDisks, mountOddDisk, type OddDisk } from './odd-disk.ts';
import { jobBeside, readBranch } from './odd-jobs.ts';

const whyNot = findWhyNoOddDisks();
if (whyNot !== undefined)
  console.warn(`The tests of names that are one on a disk are skipped: no FUSE disk here (${whyNot}).`);

let sandbox: Sandbox;
let disk: OddDisk;
let other: string;
let copy: string;
const jobIn = (folder: string) => jobBeside(sandbox, folder);
const contentOf = (folder: string) => describeTree(folder, { times: false });
const noChanges = { added: 0, modified: 0, deleted: 0 };
async function others(files: Readonly<Record<string, string | null>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) rmSync(join(other, path), { recursive: true });
    else sandbox.write(`other/${path}`, content);
  }
  await push(jobIn(other), {});
}
/** The branch is what the machine has that can hold everything. */
async function expectBranchWhole(): Promise<void> {
  await pull(jobIn(other), {});
  expect(await readBranch(sandbox)).toEqual(contentOf(other));
}

describe.skipIf(whyNot !== undefined)('On a disk on which case does not count', () => {
  beforeEach(async () => {
    sandbox = createSandbox();
    disk = await mountOddDisk({ foldsCase: true });
    other = sandbox.path('other');
    copy = join(disk.path, 'copy');
    for (const path of ['README', 'readme', 'Data/x', 'data/y', 'data/deep/z', 'plain'])
      sandbox.write(`other/${path}`, `first ${path}`);
    await initWorkspace(jobIn(other), { remoteUrl: sandbox.path('store') });
    await push(jobIn(other), {});
  });
  afterEach(async () => {
    await disk?.[Symbol.asyncDispose]();
    sandbox?.[Symbol.dispose]();
  });

  const clone = () => cloneWorkspace(jobIn(disk.path), { url: sandbox.path('store'), directory: 'copy' });
  const here = () => readdirSync(copy).filter((name) => name !== '.dray');

  it('a clone keeps the first of two names, and the rest is a whole workspace', async () => {
    const context = jobIn(disk.path);
    const cloned = await cloneWorkspace(context, { url: sandbox.path('store'), directory: 'copy' });
    expect(cloned).toMatchObject({ failed: 3, commit: expect.any(String), changes: { added: 3 } });
    expect(eventsOf(context, 'warning').find(({ warning }) => warning === 'notHeld')?.message).toContain(
      'data/deep/z beside Data/, data/y beside Data/, readme beside README',
    );
    expect(here()).toEqual(['Data', 'README', 'plain']);
    expect(readdirSync(join(copy, 'Data'))).toEqual(['x']);
    expect(readFileSync(join(copy, 'README'), 'utf8')).toBe('first README');
    expect(await status(jobIn(copy), {})).toMatchObject({ changes: noChanges });
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'nothingToPush', failed: 0 });
    expect(await pull(jobIn(copy), {})).toMatchObject({ result: 'upToDate', failed: 0 });
  });

  it('pushes and merges keep on the branch what is not here', async () => {
    await clone();
    writeFileSync(join(copy, 'README'), 'mine');
    writeFileSync(join(copy, 'Data/new'), 'new');
    expect(await push(jobIn(copy), {})).toMatchObject({
      failed: 0,
      changes: { added: 1, modified: 1, deleted: 0 },
    });
    await pull(jobIn(other), {});
    expect(readFileSync(join(other, 'readme'), 'utf8')).toBe('first readme');
    await others({ readme: 'theirs', 'data/y': 'theirs', plain: 'theirs' });
    writeFileSync(join(copy, 'README'), 'mine again');
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'pushed', failed: 0 });
    expect(await pull(jobIn(copy), {})).toMatchObject({ failed: 0, decided: 0, changes: { modified: 1 } });
    await expectBranchWhole();
  });

  it('a newcomer is left out whatever its name, and comes when the other goes', async () => {
    await clone();
    await others({ PLAIN: 'newcomer', README: null, Data: null });
    expect(await pull(jobIn(copy), {})).toMatchObject({ failed: 1 });
    expect(here()).toEqual(['data', 'plain', 'readme']);
    expect(readFileSync(join(copy, 'plain'), 'utf8')).toBe('first plain');
    expect(readFileSync(join(copy, 'readme'), 'utf8')).toBe('first readme');
    expect(readdirSync(join(copy, 'data')).sort()).toEqual(['deep', 'y']);
    expect(await status(jobIn(copy), {})).toMatchObject({ changes: noChanges });
    await expectBranchWhole();
  });

  it('a switch and a restore leave out the same way', async () => {
    await clone();
    await switchBranch(jobIn(other), { name: 'trial', create: true });
    await others({ pLAIN: 'trial', README: 'trial' });
    expect(await switchBranch(jobIn(copy), { name: 'trial' })).toMatchObject({ failed: 1, branch: 'trial' });
    expect(await status(jobIn(copy), {})).toMatchObject({ branch: 'trial', changes: noChanges });
    expect(await switchBranch(jobIn(copy), { name: 'main' })).toMatchObject({ failed: 0 });
    expect(await restore(jobIn(copy), { paths: ['.'], from: 'trial' })).toMatchObject({
      restored: 1,
      failed: 1,
    });
    expect(readFileSync(join(copy, 'plain'), 'utf8')).toBe('first plain');
    expect(readFileSync(join(copy, 'README'), 'utf8')).toBe('trial');
  });

  it('a workspace that moves to another disk gets the rest with its next pull', async () => {
    await clone();
    const moved = sandbox.path('moved');
    cpSync(copy, moved, { recursive: true, preserveTimestamps: true });
    expect(await pull(jobIn(moved), {})).toMatchObject({ failed: 0, changes: { added: 3 } });
    expect(contentOf(moved)).toEqual(contentOf(other));
    expect(existsSync(join(moved, 'data/deep/z'))).toBe(true);
  });
});
