/** Entries of a commit that a disk cannot hold: links where there are none, and names that are too long. */
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  console.warn(`The tests of entries that a disk cannot hold are skipped: no FUSE disk here (${whyNot}).`);

const LONG = 'n'.repeat(150);
const NESTED = `d/${'m'.repeat(150)}/f`;

let sandbox: Sandbox;
let disk: OddDisk;
let other: string;
let copy: string;
const jobIn = (folder: string) => jobBeside(sandbox, folder);

const contentOf = (folder: string) => describeTree(folder, { times: false });
const noChanges = { added: 0, modified: 0, deleted: 0 };

describe.skipIf(whyNot !== undefined)('On a disk without links and long names', () => {
  beforeEach(async () => {
    sandbox = createSandbox();
    disk = await mountOddDisk({ symlinks: 'EPERM', nameBytesMax: 100 });
    other = sandbox.path('other');
    copy = join(disk.path, 'copy');
    for (const path of ['a', 'd/short', LONG, NESTED]) sandbox.write(`other/${path}`, `first ${path}`);
    symlinkSync('a', join(other, 'link'));
    await initWorkspace(jobIn(other), { remoteUrl: sandbox.path('store') });
    await push(jobIn(other), {});
  });
  afterEach(async () => {
    await disk?.[Symbol.asyncDispose]();
    sandbox?.[Symbol.dispose]();
  });

  const clone = () => cloneWorkspace(jobIn(disk.path), { url: sandbox.path('store'), directory: 'copy' });

  it('a clone leaves out by name what cannot be there, and the rest is a whole workspace', async () => {
    const context = jobIn(disk.path);
    const cloned = await cloneWorkspace(context, { url: sandbox.path('store'), directory: 'copy' });
    expect(cloned).toMatchObject({ failed: 3, commit: expect.any(String), changes: { added: 2 } });
    expect(eventsOf(context, 'fileFailed')).toEqual([]);
    expect(eventsOf(context, 'warning').filter(({ warning }) => warning === 'notHeld')).toMatchObject([
      { message: expect.stringMatching(new RegExp(`${NESTED}|${LONG}|link`)) },
    ]);
    expect(await status(jobIn(copy), {})).toMatchObject({ changes: noChanges });
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'nothingToPush', failed: 0 });
    expect(await clone()).toMatchObject({ result: 'upToDate', failed: 0 });
    await expect(restore(jobIn(copy), { paths: ['link'] })).rejects.toMatchObject({ code: 'unsafePath' });
  });

  it('a push keeps on the branch what is not here, and a merge too', async () => {
    await clone();
    writeFileSync(join(copy, 'a'), 'edited');
    rmSync(join(copy, 'd/short'));
    expect(await push(jobIn(copy), {})).toMatchObject({ failed: 0, changes: { modified: 1, deleted: 1 } });
    await pull(jobIn(other), {});
    expect(readFileSync(join(other, LONG), 'utf8')).toBe(`first ${LONG}`);
    writeFileSync(join(other, LONG), 'second');
    await push(jobIn(other), {});
    writeFileSync(join(copy, 'a'), 'edited again');
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'pushed', failed: 0 });
    await pull(jobIn(other), {});
    expect(await readBranch(sandbox)).toEqual(contentOf(other));
    expect(contentOf(other).some((line) => line.startsWith('link'))).toBe(true);
  });

  it('a pull carries on, leaves out what is new of that kind, and forgets what others removed', async () => {
    await clone();
    writeFileSync(join(other, 'a'), 'second');
    writeFileSync(join(other, LONG), 'second');
    await push(jobIn(other), {});
    expect(await pull(jobIn(copy), {})).toMatchObject({ failed: 0, decided: 0, changes: { modified: 1 } });
    symlinkSync('d', join(other, 'another'));
    rmSync(join(other, 'a'));
    symlinkSync('d/short', join(other, 'a'));
    rmSync(join(other, 'link'));
    writeFileSync(join(other, 'link'), 'a file now');
    rmSync(join(other, LONG));
    await push(jobIn(other), {});
    const context = jobIn(copy);
    expect(await pull(context, {})).toMatchObject({ failed: 2, decided: 0 });
    expect(eventsOf(context, 'warning').find(({ warning }) => warning === 'notHeld')?.message).toContain(
      'a, another',
    );
    expect(readFileSync(join(copy, 'link'), 'utf8')).toBe('a file now');
    expect(await status(jobIn(copy), {})).toMatchObject({ changes: noChanges });
    expect(await pull(jobIn(copy), {})).toMatchObject({ result: 'upToDate', failed: 0 });
    writeFileSync(join(copy, LONG.slice(0, 50)), 'mine');
    expect(await push(jobIn(copy), {})).toMatchObject({ failed: 0, changes: { added: 1, deleted: 0 } });
    await pull(jobIn(other), {});
    expect(await readBranch(sandbox)).toEqual(contentOf(other));
  });

  it('a switch and a switch back leave the rest whole', async () => {
    await clone();
    await switchBranch(jobIn(other), { name: 'trial', create: true });
    writeFileSync(join(other, 'a'), 'trial');
    symlinkSync('a', join(other, 'link2'));
    await push(jobIn(other), {});
    expect(await switchBranch(jobIn(copy), { name: 'trial' })).toMatchObject({ failed: 1, branch: 'trial' });
    expect(await status(jobIn(copy), {})).toMatchObject({ branch: 'trial', changes: noChanges });
    expect(await switchBranch(jobIn(copy), { name: 'main' })).toMatchObject({ failed: 0, branch: 'main' });
    expect(await status(jobIn(copy), {})).toMatchObject({ branch: 'main', changes: noChanges });
  });

  it('a workspace that moves to another disk gets the rest with its next pull', async () => {
    await clone();
    const moved = sandbox.path('moved');
    cpSync(copy, moved, { recursive: true, preserveTimestamps: true });
    expect(await pull(jobIn(moved), {})).toMatchObject({ failed: 0, changes: { added: 3 } });
    expect(contentOf(moved)).toEqual(contentOf(other));
    expect(await status(jobIn(moved), {})).toMatchObject({ changes: noChanges });
    expect(readFileSync(join(moved, '.dray/state.json'), 'utf8')).not.toContain('unheld');
    expect(await pull(jobIn(moved), {})).toMatchObject({ result: 'upToDate' });
  });

  it('survives the loss of its index, and is refused by a Dray that does not know such entries', async () => {
    await clone();
    expect(JSON.parse(readFileSync(join(copy, '.dray/state.json'), 'utf8'))).toMatchObject({ format: 3 });
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(copy, `.dray/index.db${suffix}`), { force: true });
    expect(await status(jobIn(copy), {})).toMatchObject({ changes: noChanges });
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'nothingToPush' });
  });
});
