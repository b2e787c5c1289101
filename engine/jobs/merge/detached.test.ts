/** A workspace that shows another version than that of its branch. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { log } from '../history/log.ts';
import { branch, tag } from '../history/refs.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { remoteAdd } from '../remotes/remotes.ts';
import { tipOf } from '../session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { status } from '../working-copy/status.ts';

let sandbox: Sandbox;
let root: string;
let exp: string;
/** `exp` removes `a` and adds `exp.txt`; `main` goes on with `b`. */
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  sandbox.write('work/a', 'one');
  await push(testContext(root), { message: 'first' });
  await tag(testContext(root), { name: 'v1' });
  await switchBranch(testContext(root), { name: 'exp', create: true });
  rmSync(join(root, 'a'));
  sandbox.write('work/exp.txt', 'exp');
  exp = (await push(testContext(root), { message: 'exp' })).commit!;
  await switchBranch(testContext(root), { name: 'main' });
  sandbox.write('work/b', 'two');
  await push(testContext(root), { message: 'main goes on' });
});
afterEach(() => sandbox[Symbol.dispose]());

const stateOf = () => JSON.parse(readFileSync(join(root, '.dray/state.json'), 'utf8')) as object;

describe('a workspace after a pull of another ref', () => {
  it('says where it is, and refuses to push changes from there, with advice that works', async () => {
    const detached = { ref: 'exp', commit: exp };
    expect(await pull(testContext(root), { ref: 'exp' })).toMatchObject({ branch: 'main', detached });
    expect(await status(testContext(root), {})).toMatchObject({ branch: 'main', commit: exp, detached });
    expect(await log(testContext(root), {})).toMatchObject({ commits: 2, detached });
    expect(await log(testContext(root), { ref: 'main' })).not.toHaveProperty('detached');
    expect(await push(testContext(root), {})).toMatchObject({ result: 'nothingToPush', detached });
    sandbox.write('work/mine', 'mine');
    const tip = tipOf(sandbox.path('store'));
    for (const dryRun of [false, true]) {
      const error = await push(testContext(root), { dryRun }).catch((caught: Error) => caught);
      expect(error).toMatchObject({
        code: 'conflict',
        data: { reason: 'detached', branch: 'main', ref: 'exp' },
      });
    }
    expect(tipOf(sandbox.path('store'))).toBe(tip);
    expect(await runCli(['switch', 'main'], { cwd: root })).toMatchObject({ exitCode: 0 });
    expect(stateOf()).not.toHaveProperty('detached');
    expect([existsSync(join(root, 'exp.txt')), existsSync(join(root, 'a'))]).toEqual([false, true]);
    expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed', changes: { added: 1 } });
  });

  it('keeps changes on a branch of their own, made there', async () => {
    await pull(testContext(root), { ref: 'exp' });
    sandbox.write('work/mine', 'mine');
    await expect(push(testContext(root), {})).rejects.toMatchObject({ code: 'conflict' });
    await switchBranch(testContext(root), { name: 'kept', create: true });
    expect(stateOf()).not.toHaveProperty('detached');
    expect(await push(testContext(root), {})).toMatchObject({ branch: 'kept', changes: { added: 1 } });
    expect(await status(testContext(root), {})).not.toHaveProperty('detached');
  });

  it('follows its branch again after a pull, and where the branch comes to that version itself', async () => {
    await pull(testContext(root), { ref: 'v1' });
    expect(await status(testContext(root), {})).toMatchObject({ detached: { ref: 'v1' } });
    await pull(testContext(root), {});
    expect(await status(testContext(root), {})).not.toHaveProperty('detached');
    await pull(testContext(root), { ref: 'exp' });
    await branch(testContext(root), { name: 'main', ref: 'exp', force: true });
    sandbox.write('work/mine', 'mine');
    expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed' });
    expect(stateOf()).not.toHaveProperty('detached');
    await branch(testContext(root), { name: 'side', ref: '@~1' });
    await pull(testContext(root), { ref: 'side' });
    await branch(testContext(root), { name: 'main', ref: 'side', force: true });
    expect(await pull(testContext(root), {})).toMatchObject({ result: 'upToDate' });
    expect(stateOf()).not.toHaveProperty('detached');
  });

  it('is not detached by the name or the hash of what its branch has', async () => {
    const tip = tipOf(sandbox.path('store'));
    for (const ref of ['main', tip, 'main~0']) {
      await pull(testContext(root), { ref: 'v1' });
      await pull(testContext(root), { ref });
      expect(await status(testContext(root), {})).not.toHaveProperty('detached');
    }
  });
});

describe('a clone of a tag or a commit', () => {
  it('shows it, and pushes only from what its branch has', async () => {
    for (const [ref, directory] of [
      ['v1', 'tagged'],
      [exp, 'hashed'],
    ] as const) {
      await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory, ref });
      const there = sandbox.path(directory);
      expect(await status(testContext(there), {})).toMatchObject({ branch: 'main', detached: { ref } });
      sandbox.write(`${directory}/mine`, 'mine');
      await expect(push(testContext(there), {})).rejects.toMatchObject({ data: { reason: 'detached' } });
      await switchBranch(testContext(there), { name: 'main' });
      await push(testContext(there), { dryRun: true });
    }
  });

  it('of what the default branch has can push', async () => {
    const ref = tipOf(sandbox.path('store'));
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'tip', ref });
    sandbox.write('tip/mine', 'mine');
    expect(await push(testContext(sandbox.path('tip')), {})).toMatchObject({ result: 'pushed' });
  });
});

describe('a second remote after a switch', () => {
  it('gets no commit that claims to be merged with a branch which lacks its base', async () => {
    await remoteAdd(testContext(root), { name: 'second', url: sandbox.path('store') });
    const second = () => testContext(root, { remoteName: 'second' });
    await switchBranch(testContext(root), { name: 'exp' });
    await pull(second(), {});
    await switchBranch(testContext(root), { name: 'main' });
    sandbox.write('work/mine', 'mine');
    const error = await push(second(), {}).catch((caught: Error) => caught);
    expect(error).toMatchObject({
      code: 'conflict',
      data: { reason: 'detached', command: 'dray pull --remote second' },
    });
    await pull(second(), {});
    expect(await push(second(), {})).toMatchObject({ result: 'pushed', changes: { added: 1 } });
    expect(existsSync(join(root, 'a'))).toBe(true);
  });
});
