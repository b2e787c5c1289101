/**
 * Kills a change of scope, or a clone, a pull or a push of a part, before each of its changes to the file
 * system in turn. The same command, run again, then succeeds and leaves what one that was never killed
 * leaves. In between no push takes what is not here for deleted, and no file is lost that was not pushed.
 */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { scope } from '../../engine/jobs/scope/scope.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { countSteps, runKilledAt } from '../interrupted/killed-command.ts';

/** The command is killed before each step whose number this divides. */
const STRIDE = runBudget({ short: 9, long: 1 });

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox();
  const work = sandbox.path('work');
  for (const path of ['a/1', 'a/2', 'a/deep/3', 'b/1', 'b/2', 'c/1', '.drayignore'])
    sandbox.write(`work/${path}`, `content of ${path}`);
  sandbox.write('work/b/large', Buffer.alloc(2_000_000, 'large'));
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
  await push(testContext(work), {});
  const part = { url: sandbox.path('store'), directory: 'template', only: ['a', 'c'] };
  await cloneWorkspace(testContext(sandbox.folder), part);
  // Local edits in what leaves, stays and enters.
  sandbox.write('template/a/2', 'edited');
  sandbox.write('template/a/new', 'new');
  sandbox.write('template/c/1', 'edited');
  sandbox.write('template/b/2', 'content of b/2');
  sandbox.write('template/b/new', 'here before');
});
afterAll(() => sandbox?.[Symbol.dispose]());

const freshCopy = () => {
  const copy = sandbox.path('copy');
  rmSync(copy, { recursive: true, force: true });
  cpSync(sandbox.path('template'), copy, { recursive: true, preserveTimestamps: true });
  return copy;
};
const withoutTimes = (root: string) => describeTree(root, { times: false });

async function stateOf(root: string) {
  const { changes, scope: held } = await status(testContext(root), {});
  return { changes, held, tree: withoutTimes(root) };
}

describe.each([
  ['that fetches', ['add', 'b']],
  ['that removes', ['drop', 'a']],
  ['that does both', ['only', 'b', 'c']],
  ['to everything', ['clear']],
] as const)('A change of scope %s', (_name, words) => {
  it('completes when it is killed before a step and runs again', async () => {
    const [action, ...patterns] = words;
    const request = action === 'clear' ? { action } : { action, patterns };
    const copy = freshCopy();
    const command = ['-C', copy, 'scope', ...words];
    const steps = await countSteps(command, sandbox);
    const expected = await stateOf(copy);
    expect(steps).toBeGreaterThan(5);
    for (let step = 1; step <= steps; step += STRIDE) {
      freshCopy();
      expect(await runKilledAt(step, command), `step ${step}`).toMatchObject({ signal: 'SIGKILL' });
      const between = await status(testContext(copy), {});
      expect(between.changes.deleted, `killed before step ${step}`).toBe(0);
      expect(await push(testContext(copy), { dryRun: true })).toMatchObject({ changes: { deleted: 0 } });
      await scope(testContext(copy), request).catch((error: unknown) => {
        // Killed at its very end: there is nothing left to drop.
        expect(error).toMatchObject({ data: { reason: 'notInScope' } });
        expect(between.scope).toEqual(expected.held);
      });
      expect(await stateOf(copy), `killed before step ${step}`).toEqual(expected);
      for (const [path, content] of [
        ['a/2', 'edited'],
        ['a/new', 'new'],
        ['c/1', 'edited'],
        ['b/new', 'here before'],
      ])
        expect(readFileSync(`${copy}/${path}`, 'utf8')).toBe(content);
    }
  });
});

describe('A clone of a part', () => {
  it('completes when it is killed before a step and runs again', async () => {
    const copy = sandbox.path('copy');
    const clone = ['clone', sandbox.path('store'), copy, '--only', 'a', '*.none'];
    rmSync(copy, { recursive: true, force: true });
    const steps = await countSteps(clone, sandbox);
    const expected = await stateOf(copy);
    expect(expected).toMatchObject({ changes: { added: 0 }, held: { only: ['a', '*.none'] } });
    expect(steps).toBeGreaterThan(10);
    for (let step = 1; step <= steps; step += STRIDE) {
      rmSync(copy, { recursive: true, force: true });
      expect(await runKilledAt(step, clone), `step ${step}`).toMatchObject({ signal: 'SIGKILL' });
      const request = { url: sandbox.path('store'), directory: copy, only: ['a', '*.none'] };
      expect(await cloneWorkspace(testContext(sandbox.folder), request)).toMatchObject({ failed: 0 });
      expect(await stateOf(copy), `killed before step ${step}`).toEqual(expected);
    }
  });
});

describe('With commits of others', () => {
  let own: Sandbox;
  let whole: string;
  let store: string;
  let copy: string;
  beforeAll(async () => {
    own = createSandbox();
    [whole, store, copy] = [own.path('whole'), own.path('store'), own.path('copy')];
    for (const path of ['a/1', 'a/2', 'a/deep/3', 'b/1', 'b/2', 'b/swap', 'c/1'])
      own.write(`whole/${path}`, `content of ${path}`);
    own.write('whole/b/large', Buffer.alloc(2_000_000, 'large'));
    await initWorkspace(testContext(whole), { remoteUrl: store });
    await push(testContext(whole), {});
    await cloneWorkspace(testContext(own.folder), { url: store, directory: 'template', only: ['a'] });
    rmSync(`${whole}/b/1`);
    rmSync(`${whole}/b/swap`);
    own.write('whole/b/swap/now', 'a folder');
    own.write('whole/b/2', 'of others');
    own.write('whole/b/large', Buffer.alloc(2_000_000, 'other'));
    own.write('whole/a/1', 'of others');
    rmSync(`${whole}/a/deep`, { recursive: true });
    own.write('whole/a/deep', 'a file');
    await push(testContext(whole), {});
    own.write('template/a/2', 'edited');
    own.write('template/a/new', 'new');
    own.write('template/b/mine', 'outside');
    cpSync(store, own.path('store-then'), { recursive: true });
  });
  afterAll(() => own?.[Symbol.dispose]());

  const begin = () => {
    for (const path of [copy, store]) rmSync(path, { recursive: true, force: true });
    cpSync(own.path('template'), copy, { recursive: true, preserveTimestamps: true });
    cpSync(own.path('store-then'), store, { recursive: true });
  };
  /** All that the branch has. */
  const pushed = async () => {
    const again = own.path('again');
    rmSync(again, { recursive: true, force: true });
    await cloneWorkspace(testContext(own.folder), { url: store, directory: 'again' });
    return withoutTimes(again);
  };
  const killEach = async (
    words: readonly string[],
    goOn: (step: number) => Promise<unknown>,
    stateAfter: () => Promise<unknown>,
  ) => {
    begin();
    const command = ['-C', copy, ...words];
    const steps = await countSteps(command, own);
    expect(steps).toBeGreaterThan(5);
    await goOn(0);
    const expected = await stateAfter();
    for (let step = 1; step <= steps; step += STRIDE) {
      begin();
      expect(await runKilledAt(step, command), `step ${step}`).toMatchObject({ signal: 'SIGKILL' });
      await goOn(step);
      expect(await stateAfter(), `killed before step ${step}`).toEqual(expected);
      expect(readFileSync(`${copy}/a/2`, 'utf8')).toBe('edited');
      expect(readFileSync(`${copy}/a/new`, 'utf8')).toBe('new');
      expect(readFileSync(`${copy}/b/mine`, 'utf8')).toBe('outside');
    }
    return expected;
  };
  const all = async () => ({ here: await stateOf(copy), there: await pushed() });

  it('a killed pull goes on', async () => {
    const again = () => pull(testContext(copy), {});
    const end = await killEach(['pull'], again, all);
    expect(end).toMatchObject({ here: { changes: { added: 1, modified: 1, deleted: 0 } } });
  });

  it('a killed push goes on, and merges with what is outside', async () => {
    const again = async () => {
      await push(testContext(copy), {});
      await pull(testContext(copy), {});
    };
    await killEach(['push'], again, all);
    const lines = await pushed();
    expect(lines.filter((line) => /^b\/(1|mine) /.test(line))).toEqual([]);
    expect(lines.filter((line) => /^(a\/new|b\/swap\/now|b\/2) /.test(line))).toHaveLength(3);
  });

  it('a killed widening brings back nothing that they deleted before it goes on', async () => {
    const goOn = async (step: number) => {
      expect(await pull(testContext(copy), {}), `step ${step}`).toMatchObject({ failed: 0 });
      expect(await scope(testContext(copy), { action: 'add', patterns: ['b'] })).toMatchObject({ failed: 0 });
    };
    await killEach(['scope', 'add', 'b'], goOn, all);
    const { changes, tree } = await stateOf(copy);
    expect(changes).toMatchObject({ added: 2, modified: 1, deleted: 0 });
    expect(tree.filter((line) => /^b\/[12]? /.test(line))).toEqual(
      withoutTimes(whole).filter((line) => /^b\/[12]? /.test(line)),
    );
  });
});
