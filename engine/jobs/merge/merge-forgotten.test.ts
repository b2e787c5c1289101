/** Merges and reverts whose older commits were forgotten, and collected. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCutPath } from '../../repository/manifest/cut-path.fixture.ts';
import { collectGarbage } from '../collect/collect.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { forget } from '../retention/forget.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { merge } from './merge.ts';
import { revert } from './revert.ts';

const FILES = 1200;
let sandbox: Sandbox;
let root: string;
let first: string;
let second: string;
let main: string;
const work = () => testContext(root);
const content = (path: string) => readFileSync(join(root, path), 'utf8');
async function commit(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, text] of Object.entries(files)) sandbox.write(`work/${path}`, text);
  return (await push(work(), {})).commit!;
}
async function forgetOld(): Promise<void> {
  await forget(work(), { policy: { keepLast: 1 } });
  await collectGarbage(work(), { graceSeconds: 0 });
}
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  // So many that their lists are objects, which a collection removes.
  const many = Object.fromEntries(Array.from({ length: FILES }, (_, at) => [`many/${at}`, 'same']));
  first = await commit({ ...many, [findCutPath('many~')]: 'cut', zz: '1', a: '1', b: '1' });
  await switchBranch(work(), { name: 'exp', create: true });
  await commit({ a: 'exp' });
  await switchBranch(work(), { name: 'main' });
  second = await commit({ b: '2' });
  main = await commit({ b: '3' });
  await forgetOld();
  sandbox.write('work/mine', 'an edit');
});
afterEach(() => sandbox[Symbol.dispose]());

const unchanged = async () => {
  expect([content('a'), content('b'), content('mine')]).toEqual(['1', '3', 'an edit']);
  expect(await status(work(), {})).not.toHaveProperty('merging');
};

describe('What was forgotten', () => {
  it('is no merge base: the merge says so, changes nothing, and its advice works', async () => {
    // A clone has never read its lists.
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'clone' });
    root = sandbox.path('clone');
    sandbox.write('clone/mine', 'an edit');
    await expect(merge(work(), { ref: 'exp' })).rejects.toMatchObject({
      code: 'forgotten',
      message: expect.stringContaining(first.slice(0, 10)),
      data: { commit: first, reason: 'mergeBase' },
    });
    await unchanged();
    expect(await restore(work(), { paths: [join(root, 'a')], from: 'exp' })).toMatchObject({
      restored: 1,
    });
    expect(await push(work(), {})).toMatchObject({ result: 'pushed', changes: { added: 1, modified: 1 } });
  });

  it('is not merged itself', async () => {
    await switchBranch(work(), { name: 'exp' });
    await expect(merge(work(), { ref: second })).rejects.toMatchObject({
      code: 'forgotten',
      data: { commit: second },
    });
    expect(await status(work(), {})).not.toHaveProperty('merging');
  });

  it('is not reverted, and no commit is reverted to it', async () => {
    for (const [ref, gone] of [
      [second, second],
      [main, second],
    ] as const)
      await expect(revert(work(), { ref }), ref).rejects.toMatchObject({
        code: 'forgotten',
        data: { commit: gone },
      });
    await unchanged();
    expect(await push(work(), {})).toMatchObject({ result: 'pushed', changes: { added: 1 } });
  });

  it('does not hinder the revert of a commit that only added files', async () => {
    await commit({ new: 'new' });
    await forgetOld();
    expect(await revert(work(), { ref: '@' })).toMatchObject({ result: 'reverted', failed: 0 });
    expect(existsSync(sandbox.path('work/new'))).toBe(false);
    await push(work(), {});
  });
});
