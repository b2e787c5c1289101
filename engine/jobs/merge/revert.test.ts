import { existsSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { log } from '../history/log.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { status } from '../working-copy/status.ts';
import { merge } from './merge.ts';
import { revert } from './revert.ts';

let sandbox: Sandbox;
let root: string;
const hashes: string[] = [];
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  hashes.length = 0;
  await commit('first', { a: '1', b: '1', c: '1' });
  await commit('second', { a: '2', b: undefined, d: 'new' });
  await commit('third', { c: '3' });
});
afterEach(() => sandbox[Symbol.dispose]());

async function commit(message: string, files: Readonly<Record<string, string | undefined>>) {
  for (const [path, content] of Object.entries(files))
    if (content === undefined) rmSync(sandbox.path('work', path));
    else sandbox.write(`work/${path}`, content);
  hashes.push((await push(testContext(root), { message })).commit!);
}
const state = () =>
  Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((path) => [
      path,
      existsSync(sandbox.path('work', path)) ? readFileSync(sandbox.path('work', path), 'utf8') : undefined,
    ]),
  );

describe('a revert', () => {
  it('takes back what one commit changed, and the next push says so', async () => {
    sandbox.write('work/mine', 'an edit');
    expect(await revert(testContext(root), { ref: '@~1', dryRun: true })).toMatchObject({
      result: 'wouldRevert',
      changes: { modified: 1, added: 1, deleted: 1 },
    });
    expect(await revert(testContext(root), { ref: '@~1' })).toMatchObject({
      result: 'reverted',
      other: hashes[1],
      commit: hashes[2],
    });
    expect(state()).toEqual({ a: '1', b: '1', c: '3', d: undefined });
    expect(await status(testContext(root), {})).toMatchObject({ merging: { kind: 'revert', ref: '@~1' } });
    expect(await push(testContext(root), {})).not.toHaveProperty('merged');
    const context = testContext(root);
    await log(context, { limit: 1 });
    expect(eventsOf(context, 'commit')[0]).toMatchObject({
      parents: [hashes[2]],
      message: `Revert "second"\n\nThis takes back ${hashes[1]}.`,
    });
    await revert(testContext(root), { ref: '@' });
    expect(state()).toEqual({ a: '2', b: undefined, c: '3', d: 'new' });
  });

  it('asks where a later commit or an edit changed the same path, and is taken back by its abort', async () => {
    sandbox.write('work/a', 'edited');
    await expect(revert(testContext(root), { ref: hashes[1]! })).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['a'] },
    });
    expect(state()).toMatchObject({ a: 'edited', d: 'new' });
    await revert(testContext(root), { ref: hashes[1]!, conflicts: 'ours' });
    expect(state()).toEqual({ a: 'edited', b: '1', c: '3', d: undefined });
    await expect(merge(testContext(root), { abort: true })).rejects.toMatchObject({
      data: { command: 'dray revert --abort' },
    });
    expect(await revert(testContext(root), { abort: true })).toMatchObject({ result: 'aborted' });
    expect(state()).toEqual({ a: 'edited', b: undefined, c: '3', d: 'new' });
  });

  it('of the first commit takes back all that it added', async () => {
    await expect(revert(testContext(root), { ref: 'main~2' })).rejects.toMatchObject({ data: { count: 2 } });
    await revert(testContext(root), { ref: 'main~2', conflicts: 'ours' });
    expect(state()).toEqual({ a: '2', b: undefined, c: '3', d: 'new' });
    await revert(testContext(root), { abort: true });
    await revert(testContext(root), { ref: 'main~2', conflicts: 'theirs' });
    expect(state()).toEqual({ a: undefined, b: undefined, c: undefined, d: 'new' });
  });

  it('of a merge needs the parent that it goes back to', async () => {
    await switchBranch(testContext(root), { name: 'side', create: true });
    await commit('on side', { b: 'side' });
    await switchBranch(testContext(root), { name: 'main' });
    await commit('on main', { c: 'main' });
    await merge(testContext(root), { ref: 'side' });
    await commit('merged', {});
    await expect(revert(testContext(root), { ref: '@' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`1 is ${hashes[4]!.slice(0, 10)}, 2 is ${hashes[3]!.slice(0, 10)}`),
    });
    await expect(revert(testContext(root), { ref: '@', parent: 3 })).rejects.toMatchObject({ code: 'usage' });
    await expect(revert(testContext(root), { ref: '@~1', parent: 2 })).rejects.toMatchObject({
      code: 'usage',
    });
    await revert(testContext(root), { ref: '@', parent: 1 });
    expect(state()).toMatchObject({ b: undefined, c: 'main' });
    await revert(testContext(root), { abort: true });
    await revert(testContext(root), { ref: '@', parent: 2 });
    expect(state()).toMatchObject({ b: 'side', c: '3' });
  });

  it('that is undone by hand leaves nothing to push, and nothing pending', async () => {
    await revert(testContext(root), { ref: '@' });
    sandbox.write('work/c', '3');
    expect(await push(testContext(root), {})).toMatchObject({ result: 'nothingToPush' });
    expect(await status(testContext(root), {})).not.toHaveProperty('merging');
  });

  it('in a workspace that holds a part also records what it takes back outside', async () => {
    const part = () => testContext(sandbox.path('part'));
    const clone = (directory: string, only?: readonly string[]) =>
      cloneWorkspace(testContext(sandbox.folder), {
        ...{ url: sandbox.path('store'), directory },
        ...(only && { only }),
      });
    await clone('part', ['a']);
    expect(await revert(part(), { ref: hashes[1]! })).toMatchObject({ changes: { modified: 1, added: 0 } });
    expect(await push(part(), {})).toMatchObject({ result: 'pushed' });
    await pull(testContext(root), {});
    expect(state()).toEqual({ a: '1', b: '1', c: '3', d: undefined });

    // Nothing of this one lies in the part.
    expect(await revert(part(), { ref: hashes[2]! })).toMatchObject({ changes: { modified: 0 } });
    expect(await push(part(), {})).toMatchObject({ result: 'pushed' });
    await pull(testContext(root), {});
    expect(state()).toMatchObject({ c: '1' });

    // Others pushed meanwhile, and changed a path outside that the revert takes back.
    expect(await revert(part(), { ref: '@' })).toMatchObject({ changes: { modified: 0 } });
    await commit('fourth', { c: '4' });
    await expect(push(part(), {})).rejects.toMatchObject({ data: { reason: 'mergePending' } });
    await pull(part(), {});
    await expect(push(part(), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['c'], reason: 'outsideScope', command: 'dray revert --abort' },
    });
    await revert(part(), { abort: true });
    expect(await push(part(), {})).toMatchObject({ result: 'nothingToPush' });
  });
});
