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
import { runWhole, STEPS, sweepKills } from '../interrupted/killed-command.ts';

/** The command is killed before every so many steps, and before the important ones. */
const STRIDE = runBudget({ short: 13, long: 1 });
const { branchMoved, marked, stateWritten, unlocked, unmarked } = STEPS;

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
  ['that fetches', ['add', 'b'], [stateWritten, marked]],
  ['that removes', ['drop', 'a'], [stateWritten, /^unlink .*\/a\/1$/]],
  ['that does both', ['only', 'b', 'c'], [stateWritten, unmarked]],
  ['to everything', ['clear'], [stateWritten, unlocked]],
] as const)('A change of scope %s', (_name, words, important) => {
  it('completes when it is killed before a step and runs again', async () => {
    const [action, ...patterns] = words;
    const request = action === 'clear' ? { action } : { action, patterns };
    const copy = freshCopy();
    const parameters = ['-C', copy, 'scope', ...words];
    await runWhole(parameters);
    const expected = await stateOf(copy);
    const begin = () => void freshCopy();
    const check = async (where: string) => {
      const between = await status(testContext(copy), {});
      expect(between.changes.deleted, where).toBe(0);
      expect(await push(testContext(copy), { dryRun: true })).toMatchObject({ changes: { deleted: 0 } });
      await scope(testContext(copy), request).catch((error: unknown) => {
        // Killed at its very end: there is nothing left to drop.
        expect(error).toMatchObject({ data: { reason: 'notInScope' } });
        expect(between.scope).toEqual(expected.held);
      });
      expect(await stateOf(copy), where).toEqual(expected);
      for (const [path, content] of [
        ['a/2', 'edited'],
        ['a/new', 'new'],
        ['c/1', 'edited'],
        ['b/new', 'here before'],
      ])
        expect(readFileSync(`${copy}/${path}`, 'utf8')).toBe(content);
    };
    await sweepKills({ parameters, stride: STRIDE, least: 2, important, begin, check });
  });
});

describe('A clone of a part', () => {
  it('completes when it is killed before a step and runs again', async () => {
    const copy = sandbox.path('copy');
    const parameters = ['clone', sandbox.path('store'), copy, '--only', 'a', '*.none'];
    const begin = () => rmSync(copy, { recursive: true, force: true });
    begin();
    await runWhole(parameters);
    const expected = await stateOf(copy);
    expect(expected).toMatchObject({ changes: { added: 0 }, held: { only: ['a', '*.none'] } });
    const check = async (where: string) => {
      const request = { url: sandbox.path('store'), directory: copy, only: ['a', '*.none'] };
      expect(await cloneWorkspace(testContext(sandbox.folder), request)).toMatchObject({ failed: 0 });
      expect(await stateOf(copy), where).toEqual(expected);
    };
    const important = [stateWritten, marked, unmarked, unlocked];
    await sweepKills({ parameters, stride: STRIDE, least: 2, important, begin, check });
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
    important: readonly RegExp[],
    goOn: (where: string) => Promise<unknown>,
    stateAfter: () => Promise<unknown>,
  ) => {
    begin();
    const parameters = ['-C', copy, ...words];
    await runWhole(parameters);
    await goOn('not killed');
    const expected = await stateAfter();
    const check = async (where: string) => {
      await goOn(where);
      expect(await stateAfter(), where).toEqual(expected);
      expect(readFileSync(`${copy}/a/2`, 'utf8')).toBe('edited');
      expect(readFileSync(`${copy}/a/new`, 'utf8')).toBe('new');
      expect(readFileSync(`${copy}/b/mine`, 'utf8')).toBe('outside');
    };
    await sweepKills({ parameters, stride: STRIDE, least: 2, important, begin, check });
    // The last run was not killed.
    await check('not killed');
    return expected;
  };
  const all = async () => ({ here: await stateOf(copy), there: await pushed() });

  it('a killed pull goes on', async () => {
    const again = () => pull(testContext(copy), {});
    const end = await killEach(['pull'], [marked, /^(rename|link) .*\/a\/1$/, stateWritten], again, all);
    expect(end).toMatchObject({ here: { changes: { added: 1, modified: 1, deleted: 0 } } });
  });

  it('a killed push goes on, and merges with what is outside', async () => {
    const again = async () => {
      await push(testContext(copy), {});
      await pull(testContext(copy), {});
    };
    await killEach(['push'], [branchMoved, stateWritten, unlocked], again, all);
    const lines = await pushed();
    expect(lines.filter((line) => /^b\/(1|mine) /.test(line))).toEqual([]);
    expect(lines.filter((line) => /^(a\/new|b\/swap\/now|b\/2) /.test(line))).toHaveLength(3);
  });

  it('a killed widening brings back nothing that they deleted before it goes on', async () => {
    const goOn = async (where: string) => {
      expect(await pull(testContext(copy), {}), where).toMatchObject({ failed: 0 });
      expect(await scope(testContext(copy), { action: 'add', patterns: ['b'] })).toMatchObject({ failed: 0 });
    };
    await killEach(['scope', 'add', 'b'], [stateWritten, unmarked], goOn, all);
    const { changes, tree } = await stateOf(copy);
    expect(changes).toMatchObject({ added: 2, modified: 1, deleted: 0 });
    expect(tree.filter((line) => /^b\/[12]? /.test(line))).toEqual(
      withoutTimes(whole).filter((line) => /^b\/[12]? /.test(line)),
    );
  });
});
