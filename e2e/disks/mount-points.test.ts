/** A folder of the workspace at which another disk is mounted, where the branch gets a file or nothing. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { switchBranch } from '../../engine/jobs/pull/switch.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { findWhyNoOddDisks } from './odd-disk.ts';

const whyNot = findWhyNoOddDisks();
if (whyNot !== undefined)
  console.warn(`The tests of mount points are skipped: nothing can be mounted here (${whyNot}).`);

let sandbox: Sandbox;
let other: string;
let copy: string;
const noChanges = { added: 0, modified: 0, deleted: 0 };
const mount = (...words: string[]) => {
  const { status: code, stderr } = spawnSync('mount', words, { encoding: 'utf8' });
  if (code !== 0) throw new Error(stderr);
};
const unmount = () => spawnSync('umount', ['--lazy', join(copy, 'm')]);

const KINDS = ['another disk', 'a folder of the same disk'] as const;
describe.skipIf(whyNot !== undefined).each(KINDS)('Where a folder of the workspace is %s', (kind) => {
  beforeEach(async () => {
    sandbox = createSandbox();
    other = sandbox.path('other');
    copy = sandbox.path('copy');
    for (const path of ['m/a', 'b', 'c']) sandbox.write(`other/${path}`, `first ${path}`);
    await initWorkspace(testContext(other), { remoteUrl: sandbox.path('store') });
    await push(testContext(other), {});
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'copy' });
    if (kind === 'another disk') mount('-t', 'tmpfs', 'none', join(copy, 'm'));
    else mount('--bind', sandbox.path('elsewhere', 'x').replace(/\/x$/, ''), join(copy, 'm'));
    writeFileSync(join(copy, 'm/a'), 'first m/a');
  });
  afterEach(() => {
    if (copy) unmount();
    sandbox?.[Symbol.dispose]();
  });

  /** The branch gets a file where the folder is. */
  async function replaced(): Promise<void> {
    rmSync(join(other, 'm'), { recursive: true });
    writeFileSync(join(other, 'm'), 'a file now');
    writeFileSync(join(other, 'b'), 'second');
    await push(testContext(other), {});
  }

  async function expectWhole(): Promise<void> {
    expect(readFileSync(join(copy, 'b'), 'utf8')).toBe('second');
    expect(await status(testContext(copy), {})).toMatchObject({ changes: noChanges });
    expect(await pull(testContext(copy), {})).toMatchObject({ result: 'upToDate', failed: 0 });
    writeFileSync(join(copy, 'c'), 'mine');
    expect(await push(testContext(copy), {})).toMatchObject({
      failed: 0,
      changes: { modified: 1, deleted: 0 },
    });
    await pull(testContext(other), {});
    expect(readFileSync(join(other, 'm'), 'utf8')).toBe('a file now');
  }

  it('a pull leaves out the file in its place, and brings it once nothing is mounted', async () => {
    await replaced();
    const context = testContext(copy);
    expect(await pull(context, {})).toMatchObject({ failed: 1, decided: 0 });
    expect(eventsOf(context, 'fileFailed')).toEqual([]);
    expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'notHeld', path: 'm' }]);
    await expectWhole();
    unmount();
    rmSync(join(copy, 'm'), { recursive: true });
    expect(await pull(testContext(copy), {})).toMatchObject({ failed: 0, changes: { added: 1 } });
    expect(readFileSync(join(copy, 'm'), 'utf8')).toBe('a file now');
  });

  it('a decision for the file does not count as resolved, and takes nothing from the mounted disk', async () => {
    writeFileSync(join(copy, 'm/mine'), 'mine');
    writeFileSync(join(copy, 'b'), 'edited');
    await replaced();
    await expect(pull(testContext(copy), {})).rejects.toMatchObject({ code: 'conflict' });
    const context = testContext(copy);
    expect(await pull(context, { conflicts: 'theirs' })).toMatchObject({ failed: 2, decided: 1 });
    expect(eventsOf(context, 'fileFailed').map(({ path }) => path)).toEqual(['m/mine']);
    expect(readFileSync(join(copy, 'm/mine'), 'utf8')).toBe('mine');
    expect(readFileSync(join(copy, 'b'), 'utf8')).toBe('second');
    // The way out that the next pull names.
    await expect(pull(testContext(copy), {})).rejects.toMatchObject({ code: 'conflict', data: { count: 1 } });
    expect(await pull(testContext(copy), { conflicts: 'ours' })).toMatchObject({ failed: 0, decided: 1 });
    expect(readFileSync(join(copy, 'm/mine'), 'utf8')).toBe('mine');
  });

  it('a switch does the same, there and back', async () => {
    await switchBranch(testContext(other), { name: 'trial', create: true });
    await replaced();
    expect(await switchBranch(testContext(copy), { name: 'trial' })).toMatchObject({
      failed: 1,
      branch: 'trial',
    });
    await expectWhole();
  });
});
