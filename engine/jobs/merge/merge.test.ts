import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommitEvent } from '../../api/events.ts';
import { log } from '../history/log.ts';
import { branch } from '../history/refs.ts';
import { putBackKept } from '../kept/kept-files.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { initWorkspace } from '../remotes/init.ts';
import { scope } from '../scope/scope.ts';
import { onlyKey } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { merge } from './merge.ts';

let sandbox: Sandbox;
let root: string;
let exp: string;
let main: string;
const on = (name: string) => testContext(sandbox.path(name));
/** `exp` removes `a`, changes `both` and adds `exp.txt`; `main` changes `b` and adds `main.txt`. */
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  for (const name of ['a', 'b', 'both', 'far/c']) sandbox.write(`work/${name}`, name);
  await push(on('work'), { message: 'first' });
  await switchBranch(on('work'), { name: 'exp', create: true });
  rmSync(join(root, 'a'));
  sandbox.write('work/exp.txt', 'exp');
  sandbox.write('work/both', 'of exp');
  sandbox.write('work/far/c', 'c of exp');
  exp = (await push(on('work'), { message: 'exp' })).commit!;
  await switchBranch(on('work'), { name: 'main' });
  sandbox.write('work/b', 'of main');
  sandbox.write('work/main.txt', 'main');
  main = (await push(on('work'), { message: 'main goes on' })).commit!;
});
afterEach(() => sandbox[Symbol.dispose]());

const content = (path: string, name = 'work') =>
  existsSync(sandbox.path(name, path)) ? readFileSync(sandbox.path(name, path), 'utf8') : undefined;
const clone = (directory: string, more: { readonly only?: readonly string[]; readonly ref?: string } = {}) =>
  cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory, ...more });
async function commits(request: Parameters<typeof log>[1] = {}): Promise<readonly CommitEvent[]> {
  const context = on('work');
  await log(context, request);
  return eventsOf(context, 'commit');
}
const MERGED = {
  a: undefined,
  b: 'of main',
  both: 'of exp',
  'far/c': 'c of exp',
  'exp.txt': 'exp',
  'main.txt': 'main',
};
function expectMerged(name = 'work', wanted: Readonly<Record<string, string | undefined>> = MERGED) {
  expect(Object.fromEntries(Object.keys(wanted).map((path) => [path, content(path, name)]))).toEqual(wanted);
}

describe('a merge', () => {
  it('brings what the other branch changed, and the next push records both parents', async () => {
    sandbox.write('work/mine', 'an edit');
    expect(await merge(on('work'), { ref: 'exp', dryRun: true })).toMatchObject({
      result: 'wouldMerge',
      changes: { added: 1, modified: 2, deleted: 1 },
    });
    expect(await merge(on('work'), { ref: 'exp' })).toMatchObject({
      result: 'merged',
      commit: main,
      other: exp,
      changes: { added: 1, modified: 2, deleted: 1 },
    });
    expectMerged();
    expect(await status(on('work'), {})).toMatchObject({
      commit: main,
      merging: { kind: 'merge', commit: exp, ref: 'exp' },
      changes: { added: 2, modified: 2, deleted: 1 },
    });
    expect(await push(on('work'), {})).toMatchObject({ result: 'pushed', merged: exp });
    expect((await commits())[0]).toMatchObject({ parents: [main, exp], message: 'Merge exp into main' });
    expect(await status(on('work'), {})).not.toHaveProperty('merging');
    await clone('copy');
    expectMerged('copy', { ...MERGED, mine: 'an edit' });
    expect(await merge(on('work'), { ref: 'exp' })).toMatchObject({ result: 'upToDate' });
    expect((await commits({ path: 'exp.txt' })).map(({ message }) => message)).toEqual(['exp']);
  });

  it('does not lose what was merged when the other branch goes on and is merged again', async () => {
    await merge(on('work'), { ref: 'exp' });
    await push(on('work'), {});
    await clone('other', { ref: 'exp' });
    sandbox.write('other/exp.txt', 'later');
    await push(on('other'), { message: 'exp goes on' });
    sandbox.write('work/both', 'main again');
    await push(on('work'), {});
    expect(await merge(on('work'), { ref: 'exp' })).toMatchObject({ changes: { modified: 1 } });
    expectMerged('work', { ...MERGED, both: 'main again', 'exp.txt': 'later' });
    expect(await merge(on('other'), { ref: 'main' })).toMatchObject({ result: 'merged' });
    expectMerged('other', { ...MERGED, both: 'main again', 'exp.txt': 'later' });
  });

  it('is merged with what others pushed meanwhile, and its history stays whole', async () => {
    await clone('other');
    sandbox.write('other/theirs', 'theirs');
    await push(on('other'), { message: 'theirs' });
    await merge(on('work'), { ref: 'exp' });
    expect(await push(on('work'), {})).toMatchObject({
      result: 'pushed',
      merged: exp,
      mergedWith: expect.any(String),
    });
    const [top, ...rest] = await commits();
    expect(top!.parents).toHaveLength(2);
    expect(rest.find(({ message }) => message === 'Merge exp into main')).toMatchObject({
      parents: [main, exp],
    });
    await clone('copy');
    expectMerged('copy', { ...MERGED, theirs: 'theirs' });
  });

  it('stops at a conflict before it writes, and is decided as a pull is', async () => {
    sandbox.write('work/both', 'mine');
    const before = describeTree(root);
    const stopped = on('work');
    const error = await merge(stopped, { ref: 'exp' }).catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: 'conflict', data: { paths: ['both'], branch: 'exp' } });
    expect(String(error)).toContain('the branch exp both changed both');
    expect(String(error)).toContain('"dray merge exp --ours"');
    expect(eventsOf(stopped, 'conflict')).toHaveLength(1);
    expect(describeTree(root)).toEqual(before);
    expect(await status(on('work'), {})).not.toHaveProperty('merging');
    expect(await merge(on('work'), { ref: 'exp', conflicts: 'ours' })).toMatchObject({ decided: 1 });
    expectMerged('work', { ...MERGED, both: 'mine' });
    await merge(on('work'), { abort: true });
    sandbox.write('work/both', 'mine');
    const { kept } = await merge(on('work'), { ref: 'exp', decisions: { both: 'theirs' } });
    expectMerged();
    expect(kept).toMatchObject({ files: 1 });
    await merge(on('work'), { abort: true });
    await putBackKept(on('work'), { id: kept!.id });
    expect(content('both')).toBe('mine');
    expect(await merge(on('work'), { ref: 'exp', conflicts: 'both' })).toMatchObject({
      copies: [{ path: 'both' }],
    });
  });

  it('is taken back by its abort, but for what changed since', async () => {
    sandbox.write('work/mine', 'an edit');
    mkdirSync(join(root, 'empty'));
    const before = describeTree(root, { times: false });
    await merge(on('work'), { ref: 'exp' });
    expect(await merge(on('work'), { abort: true })).toMatchObject({
      result: 'aborted',
      stayed: 0,
      changes: { added: 1, modified: 2, deleted: 1 },
    });
    expect(describeTree(root, { times: false })).toEqual(before);
    expect(await status(on('work'), {})).not.toHaveProperty('merging');
    await merge(on('work'), { ref: 'exp' });
    sandbox.write('work/exp.txt', 'edited since');
    expect(await merge(on('work'), { abort: true })).toMatchObject({ stayed: 1 });
    expect(content('exp.txt')).toBe('edited since');
    await expect(merge(on('work'), { abort: true })).rejects.toMatchObject({ code: 'usage' });
  });

  it('that did not write all files is finished or aborted first, and no push records a part of it', async () => {
    await switchBranch(on('work'), { name: 'exp' });
    sandbox.write('work/large', Buffer.alloc(1_400_000, 'exp'));
    const { commit } = await push(on('work'), {});
    await switchBranch(on('work'), { name: 'main' });
    const large = `store/${onlyKey(sandbox.path('store'), 'objects')}`;
    const bytes = readFileSync(sandbox.path(large));
    rmSync(sandbox.path(large));
    const context = on('work');
    expect(await merge(context, { ref: 'exp' })).toMatchObject({ failed: 1 });
    expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'mergeUnfinished' }]);
    expect(await status(on('work'), {})).toMatchObject({ merging: { isUnfinished: true } });
    for (const work of [
      () => push(on('work'), {}),
      () => pull(on('work'), {}),
      () => pull(on('work'), { ref: 'exp' }),
      () => switchBranch(on('work'), { name: 'exp' }),
      () => merge(on('work'), { ref: 'exp~1' }),
      () => scope(on('work'), { action: 'only', patterns: ['a'] }),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'conflict', data: { reason: 'mergeUnfinished' } });
    sandbox.write(large, bytes);
    expect(await merge(on('work'), { ref: commit!.slice(0, 10) })).toMatchObject({
      failed: 0,
      changes: { added: 1 },
    });
    expect(await push(on('work'), {})).toMatchObject({ merged: commit });
  });

  it('is pushed whole: nothing that would leave a part of it out is allowed meanwhile', async () => {
    await merge(on('work'), { ref: 'exp' });
    for (const work of [
      () => pull(on('work'), { ref: 'exp' }),
      () => switchBranch(on('work'), { name: 'exp' }),
      () => merge(on('work'), { ref: 'exp' }),
      () => merge(on('work'), { ref: 'exp~1' }),
      () => scope(on('work'), { action: 'only', patterns: ['far'] }),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'conflict', data: { reason: 'mergePending' } });
    await expect(push(on('work'), { skip: ['exp.txt'] })).rejects.toMatchObject({ code: 'usage' });
    await switchBranch(on('work'), { name: 'merged', create: true });
    expect(await push(on('work'), {})).toMatchObject({ branch: 'merged', merged: exp });
  });

  it('waits where the branch was moved back, and is not carried to a commit without its base', async () => {
    await clone('other');
    await switchBranch(on('work'), { name: 'more', create: true });
    sandbox.write('work/more', 'more');
    await push(on('work'), {});
    await switchBranch(on('work'), { name: 'main' });
    await merge(on('work'), { ref: 'more' });
    await branch(on('other'), { name: 'main', ref: 'main~1', force: true });
    const [first] = await commits({ ref: 'main' });
    await expect(pull(on('work'), {})).rejects.toMatchObject({ code: 'damaged' });
    await expect(pull(on('work'), { ref: first!.commit })).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'mergePending' },
    });
    await merge(on('work'), { abort: true });
    expect(await pull(on('work'), { ref: first!.commit })).toMatchObject({ commit: first!.commit });
    expect(await push(on('work'), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('that has commits of the own branch which the workspace lacks is pushed after a pull', async () => {
    await clone('other');
    sandbox.write('other/b', 'goes on');
    await push(on('other'), {});
    await switchBranch(on('other'), { name: 'later', create: true });
    sandbox.write('other/later', 'later');
    await push(on('other'), {});
    await merge(on('work'), { ref: 'later' });
    expect(content('b')).toBe('goes on');
    // From the base of the workspace this is no change, and would be lost.
    sandbox.write('work/b', 'of main');
    await expect(push(on('work'), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'mergePending' },
    });
    await pull(on('work'), {});
    sandbox.write('work/b', 'of main');
    await push(on('work'), {});
    await clone('copy');
    expectMerged('copy', { b: 'of main', later: 'later' });
  });

  it('survives a pull of the own branch, and is over once the branch has it', async () => {
    await clone('other');
    await merge(on('work'), { ref: 'exp' });
    sandbox.write('other/theirs', 'theirs');
    await push(on('other'), {});
    await pull(on('work'), {});
    expectMerged('work', { ...MERGED, theirs: 'theirs' });
    expect(await status(on('work'), {})).toMatchObject({ merging: { commit: exp } });
    await pull(on('other'), {});
    await merge(on('other'), { ref: 'exp' });
    await push(on('other'), {});
    expect(await push(on('work'), {})).toMatchObject({ result: 'nothingToPush' });
    await pull(on('work'), {});
    expect(await status(on('work'), {})).not.toHaveProperty('merging');
    expect(await push(on('work'), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('records a commit also where it changes nothing, or where the branch has the same content', async () => {
    await clone('other');
    for (const name of ['other', 'work']) {
      rmSync(sandbox.path(name, 'a'));
      sandbox.write(`${name}/exp.txt`, 'exp');
      sandbox.write(`${name}/both`, 'of exp');
      sandbox.write(`${name}/far/c`, 'c of exp');
    }
    expect(await merge(on('work'), { ref: 'exp' })).toMatchObject({
      changes: { added: 0, modified: 0, deleted: 0 },
    });
    await push(on('other'), { message: 'by hand' });
    expect(await push(on('work'), {})).toMatchObject({ result: 'pushed', merged: exp });
    expect((await commits()).some(({ parents }) => parents.includes(exp))).toBe(true);
    expect(await merge(on('work'), { ref: 'exp' })).toMatchObject({ result: 'upToDate' });
    await pull(on('work'), {});
    await branch(on('work'), { name: 'same', ref: 'exp' });
    await clone('third', { ref: 'same' });
    sandbox.write('third/x', 'x');
    await push(on('third'), { message: 'x' });
    rmSync(sandbox.path('third/x'));
    const { commit } = await push(on('third'), { message: 'no x' });
    await merge(on('work'), { ref: 'same' });
    expect(await push(on('work'), {})).toMatchObject({ result: 'pushed', merged: commit });
    expect(await merge(on('work'), { ref: 'same' })).toMatchObject({ result: 'upToDate' });
  });

  it('in a workspace that holds a part also records what it changes outside', async () => {
    await clone('part', { only: ['far'] });
    expect(await merge(on('part'), { ref: 'exp' })).toMatchObject({ changes: { modified: 1, deleted: 0 } });
    expect(await push(on('part'), {})).toMatchObject({ merged: exp });
    await clone('copy');
    expectMerged('copy');
  });

  it('in a part is refused where both sides changed a path outside, and where the branch moved', async () => {
    sandbox.write('work/both', 'of main');
    await push(on('work'), {});
    await clone('part', { only: ['far'] });
    await merge(on('part'), { ref: 'exp' });
    await expect(push(on('part'), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['both'], reason: 'outsideScope' },
    });
    await merge(on('part'), { abort: true });
    expect(content('far/c', 'part')).toBe('far/c');
    sandbox.write('work/both', 'both');
    await push(on('work'), {});
    await merge(on('part'), { ref: 'exp' });
    await expect(push(on('part'), {})).rejects.toMatchObject({ data: { reason: 'mergePending' } });
    await pull(on('part'), {});
    expect(await push(on('part'), {})).toMatchObject({ merged: exp });
    await clone('copy');
    expectMerged('copy');
  });

  it('of lines that were merged crosswise asks where their merge bases differ', async () => {
    sandbox.write('work/b', 'main 2');
    await push(on('work'), { message: 'main 2' });
    await clone('other', { ref: 'exp' });
    sandbox.write('other/exp.txt', 'exp 2');
    await push(on('other'), { message: 'exp 2' });
    await branch(on('work'), { name: 'main-2' });
    await merge(on('work'), { ref: 'exp', conflicts: 'ours' });
    await push(on('work'), { message: 'main has exp' });
    await merge(on('other'), { ref: 'main-2' });
    await push(on('other'), { message: 'exp has main' });
    // The two merge bases differ at b: seen from one of them only exp has changed it.
    sandbox.write('other/b', 'exp 3');
    await push(on('other'), {});
    sandbox.write('work/only-main', 'x');
    await push(on('work'), {});
    await expect(merge(on('work'), { ref: 'exp' })).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['b'] },
    });
    await merge(on('work'), { ref: 'exp', conflicts: 'theirs' });
    expect([content('b'), content('only-main'), content('exp.txt')]).toEqual(['exp 3', 'x', 'exp 2']);
  });

  it('is refused of what the own branch has, and from a version that is only looked at', async () => {
    for (const ref of ['main', main])
      await expect(merge(on('work'), { ref })).rejects.toMatchObject({
        code: 'usage',
        data: { command: 'dray pull' },
      });
    await pull(on('work'), { ref: 'exp' });
    await expect(merge(on('work'), { ref: 'main~1' })).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'detached', command: 'dray switch main' },
    });
    await expect(merge(on('work'), { ref: 'nothing' })).rejects.toMatchObject({ code: 'notFound' });
  });

  it('of a branch that has nothing in common takes what is new, and asks where both have a path', async () => {
    sandbox.write('alone/b', 'unrelated');
    sandbox.write('alone/alone', 'alone');
    await initWorkspace(on('alone'), { remoteUrl: sandbox.path('store'), branch: 'alone' });
    const { commit } = await push(on('alone'), {});
    await expect(merge(on('work'), { ref: 'alone' })).rejects.toMatchObject({ data: { paths: ['b'] } });
    await merge(on('work'), { ref: 'alone', conflicts: 'ours' });
    expect([content('b'), content('alone'), content('main.txt')]).toEqual(['of main', 'alone', 'main']);
    expect(await push(on('work'), {})).toMatchObject({ merged: commit });
  });
});
