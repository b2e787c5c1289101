/** Patterns as people may write them, and state files that another Dray or a person has written. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { scope } from './scope.ts';

const NFC = 'caf\u00e9';
const NFD = 'cafe\u0301';

let sandbox: Sandbox;
let clones = 0;

beforeAll(async () => {
  sandbox = createSandbox();
  for (const path of [
    'a/1',
    'a/2.csv',
    'b/1',
    'b/sub/1',
    '!neg/1',
    '[x]/1',
    'top.csv',
    `${NFC}/c`,
    `${NFD}/d`,
  ])
    sandbox.write(`whole/${path}`, `of ${path}`);
  const whole = sandbox.path('whole');
  await initWorkspace(testContext(whole), { remoteUrl: sandbox.path('store') });
  await push(testContext(whole), {});
});
afterAll(() => sandbox[Symbol.dispose]());

async function clone(...only: string[]) {
  clones += 1;
  const context = testContext(sandbox.folder);
  const directory = `part-${clones}`;
  await cloneWorkspace(context, { url: sandbox.path('store'), directory, only });
  return { context, root: sandbox.path(directory) };
}

const filesIn = (root: string) =>
  describeTree(root).flatMap((line) => (line.endsWith('/') ? [] : [line.split(' ')[0]!]));
const namingNothing = (context: ReturnType<typeof testContext>) =>
  eventsOf(context, 'warning').map(({ path, warning }) => `${warning} ${path}`);

describe('A part', () => {
  it.each([
    { only: ['a/'], files: ['a/1', 'a/2.csv'] },
    { only: ['/a'], files: ['a/1', 'a/2.csv'] },
    { only: ['./a'], files: ['a/1', 'a/2.csv'] },
    { only: ['a/**'], files: ['a/1', 'a/2.csv'] },
    { only: ['**/1'], files: ['!neg/1', '[x]/1', 'a/1', 'b/1', 'b/sub/1'] },
    { only: ['{b/sub,top.csv}'], files: ['b/sub/1', 'top.csv'] },
    { only: ['*.csv'], files: ['a/2.csv', 'top.csv'] },
    { only: ['!neg'], files: ['!neg/1'] },
    { only: ['\\[x\\]'], files: ['[x]/1'] },
    { only: [NFC], files: [`${NFC}/c`] },
    { only: [NFD], files: [`${NFD}/d`] },
  ])('of $only holds $files', async ({ files, only }) => {
    const { context, root } = await clone(...only);
    expect(filesIn(root)).toEqual([...files].sort());
    expect(namingNothing(context)).toEqual([]);
  });

  it.each(['!a', 'A', ' a', '/etc', '.dray', '[x]', 'a\nb', 'nothing/'])(
    'of "%s" says that it names nothing',
    async (pattern) => {
      const { context, root } = await clone('top.csv', pattern);
      expect(filesIn(root)).toEqual(['top.csv']);
      expect(namingNothing(context)).toEqual([`namesNothing ${pattern}`]);
    },
  );

  it.each([['nosuch'], ['nosuch/'], ['*.none', 'A'], ['!a']])(
    'of %s alone is no clone: it fails and leaves nothing',
    async (...only) => {
      await expect(clone(...only)).rejects.toMatchObject({ code: 'notFound', data: { patterns: only } });
      expect(existsSync(sandbox.path(`part-${clones}`))).toBe(false);
    },
  );

  it.each(['..', '../whole', 'a/..', 'a//', '//a', '/', '.', '{a,b', 'a\\b'])(
    'of "%s" is refused, and makes no folder',
    async (pattern) => {
      await expect(clone(pattern)).rejects.toMatchObject({ code: 'usage' });
      expect(existsSync(sandbox.path(`part-${clones}/.dray`))).toBe(false);
    },
  );

  it.each([[[]], [['a', 'b']]])(
    'of %j is not replaced by one that names nothing, and no file is removed',
    async (held) => {
      const { root } = await clone(...held);
      const before = describeTree(root);
      const state = readFileSync(`${root}/.dray/state.json`, 'utf8');
      const only = (...patterns: string[]) => {
        const context = testContext(root);
        return { context, done: scope(context, { action: 'only', patterns }) };
      };
      await expect(only('aa', 'nosuch').done).rejects.toMatchObject({
        code: 'notFound',
        data: { patterns: ['aa', 'nosuch'] },
      });
      expect(describeTree(root)).toEqual(before);
      expect(readFileSync(`${root}/.dray/state.json`, 'utf8')).toBe(state);
      expect((await status(testContext(root), {})).changes).toMatchObject({ added: 0, deleted: 0 });
      const { context, done } = only('a', 'nosuch');
      await done;
      expect(namingNothing(context)).toEqual(['namesNothing nosuch']);
      expect(filesIn(root)).toEqual(['a/1', 'a/2.csv']);
    },
  );

  it('may be one of files that are here and not pushed yet', async () => {
    const { root } = await clone();
    mkdirSync(`${root}/mine`);
    writeFileSync(`${root}/mine/new`, 'new');
    expect(await scope(testContext(root), { action: 'only', patterns: ['mine'] })).toMatchObject({
      failed: 0,
    });
    expect(filesIn(root)).toEqual(['mine/new']);
  });

  it('is changed by one process after the other', async () => {
    const { root } = await clone('a');
    const add = (pattern: string) => scope(testContext(root), { action: 'add', patterns: [pattern] });
    await Promise.all(
      [add('b'), add('top.csv'), scope(testContext(root), { action: 'drop', patterns: ['a'] })].map((one) =>
        one.catch((error: unknown) => expect(error).toMatchObject({ data: { reason: 'nothingLeft' } })),
      ),
    );
    const { changes, scope: held } = await status(testContext(root), {});
    expect(held?.only).toEqual(expect.arrayContaining(['b', 'top.csv']));
    expect(changes).toMatchObject({ added: 0, modified: 0, deleted: 0 });
  });

  it('stays as it is until a push that runs has ended, so that what is pushed may leave', async () => {
    const { root } = await clone('a', 'b');
    writeFileSync(`${root}/b/new`, 'new');
    const dropping: Promise<unknown>[] = [];
    const emit = () => {
      if (dropping.length === 0) dropping.push(scope(testContext(root), { action: 'drop', patterns: ['b'] }));
    };
    expect(await push(testContext(root, { emit }), {})).toMatchObject({ changes: { added: 1, deleted: 0 } });
    expect(await Promise.all(dropping)).toMatchObject([{ removed: 3, outside: { count: 0 } }]);
    expect(await push(testContext(root), {})).toMatchObject({ result: 'nothingToPush' });
    const { root: other } = await clone('b');
    expect(filesIn(other)).toEqual(['b/1', 'b/new', 'b/sub/1']);
  });

  it('of a newer Dray, or of a pattern that leaves the workspace, is refused by every command', async () => {
    const { root } = await clone('a');
    const path = `${root}/.dray/state.json`;
    const state = JSON.parse(readFileSync(path, 'utf8'));
    const commands = [
      () => status(testContext(root), {}),
      () => push(testContext(root), {}),
      () => scope(testContext(root), { action: 'add', patterns: ['b'] }),
    ];
    writeFileSync(path, JSON.stringify({ ...state, format: 1_000 }));
    for (const run of commands) await expect(run()).rejects.toMatchObject({ code: 'formatTooNew' });
    writeFileSync(path, JSON.stringify({ ...state, scope: { only: ['../x'] } }));
    for (const run of commands) await expect(run()).rejects.toMatchObject({ code: 'usage' });
    expect(filesIn(root)).toEqual(['a/1', 'a/2.csv']);
  });
});
