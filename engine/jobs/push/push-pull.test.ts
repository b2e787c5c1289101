import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { push } from './push.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

async function startWorkspace(name = 'work', layout?: 'packs' | 'objects') {
  const root = sandbox.path(name);
  mkdirSync(root, { recursive: true });
  await initWorkspace(testContext(root), {
    remoteUrl: sandbox.path('store'),
    ...(layout ? { layout: { kind: layout } } : {}),
  });
  return root;
}

async function clone(name: string) {
  const context = testContext(sandbox.folder);
  const summary = await cloneWorkspace(context, { url: sandbox.path('store'), directory: name });
  return { root: sandbox.path(name), summary, context };
}

/** A clone with a file and a link that exist only there, because it ignores them. */
async function cloneWithIgnored() {
  const { root: copy } = await clone('copy');
  sandbox.write('copy/.drayignore', 'secret\nlink\n');
  sandbox.write('copy/secret', 'only here');
  symlinkSync(sandbox.path('elsewhere', '.'), sandbox.path('copy/link'));
  return { copy, before: describeTree(copy) };
}

describe.each(['packs', 'objects'] as const)('a dataset in the %s layout', (layout) => {
  it('comes back whole from a clone: bytes, links, empty folders, executable bits and times', async () => {
    const root = await startWorkspace('work', layout);
    sandbox.write('work/a.txt', 'alpha');
    sandbox.write('work/empty', '');
    sandbox.write(
      'work/deep/er/b.bin',
      new Uint8Array(3_000_000).map((_, at) => (at * at) >> 3),
    );
    sandbox.write('work/same', 'alpha');
    chmodSync(sandbox.write('work/run.sh', '#!/bin/sh\n'), 0o755);
    utimesSync(sandbox.write('work/old', 'x'), 1, 1.5);
    mkdirSync(sandbox.path('work/hollow/inner'), { recursive: true });
    symlinkSync('../outside', sandbox.path('work/deep/link'));
    const pushed = await push(testContext(root), { message: 'first' });
    expect(pushed).toMatchObject({ result: 'pushed', failed: 0, changes: { added: 8 } });
    const cloned = await clone('copy');
    expect(cloned.summary.failed).toBe(0);
    expect(describeTree(cloned.root)).toEqual(describeTree(root));
    expect(await status(testContext(cloned.root), {})).toMatchObject({
      changes: { added: 0, modified: 0, deleted: 0 },
    });
  });

  it('pushes nothing when nothing changed, with one request', async () => {
    const root = await startWorkspace('work', layout);
    sandbox.write('work/a.txt', 'alpha');
    await push(testContext(root), {});
    const again = await push(testContext(root), {});
    expect(again).toMatchObject({ result: 'nothingToPush', requests: { total: 1 } });
  });

  it('carries edits, additions and deletions from one workspace to another', async () => {
    const root = await startWorkspace('work', layout);
    for (const name of ['a', 'b', 'c', 'd/e', 'd/f']) sandbox.write(`work/${name}`, `content of ${name}`);
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    sandbox.write('work/a', 'edited');
    rmSync(sandbox.path('work/b'));
    rmSync(sandbox.path('work/d'), { recursive: true });
    sandbox.write('work/d', 'a file where a folder was');
    sandbox.write('work/new/g', 'added');
    await push(testContext(root), {});
    const pulled = await pull(testContext(copy), {});
    expect(pulled).toMatchObject({ result: 'pulled', failed: 0 });
    expect(describeTree(copy)).toEqual(describeTree(root));
    expect(await pull(testContext(copy), {})).toMatchObject({ result: 'upToDate', requests: { total: 1 } });
  });
});

describe('a pull', () => {
  it('keeps local edits of other paths and leaves them as changes', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    sandbox.write('work/b', 'one');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    sandbox.write('work/a', 'two');
    await push(testContext(root), {});
    sandbox.write('copy/b', 'mine');
    sandbox.write('copy/untracked', 'mine too');
    await pull(testContext(copy), {});
    expect(describeTree(copy, { times: false })).toEqual([
      `a - ${btoa('two')}`,
      `b - ${btoa('mine')}`,
      `untracked - ${btoa('mine too')}`,
    ]);
    const after = testContext(copy);
    await status(after, {});
    expect(eventsOf(after, 'change').map(({ change, path }) => [change, path])).toEqual([
      ['modified', 'b'],
      ['added', 'untracked'],
    ]);
  });

  it('stops at a conflict, names the paths and changes nothing; --theirs and --ours decide', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    sandbox.write('work/b', 'one');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    sandbox.write('work/a', 'theirs');
    sandbox.write('work/b', 'new b');
    await push(testContext(root), {});
    sandbox.write('copy/a', 'ours!');
    const before = describeTree(copy);
    const context = testContext(copy);
    await expect(pull(context, {})).rejects.toMatchObject({ code: 'conflict', data: { paths: ['a'] } });
    expect(eventsOf(context, 'conflict')).toMatchObject([
      { path: 'a', ours: 'modified', theirs: 'modified' },
    ]);
    expect(describeTree(copy)).toEqual(before);
    expect(await pull(testContext(copy), { conflicts: 'ours' })).toMatchObject({ decided: 1, failed: 0 });
    expect(describeTree(copy, { times: false })).toEqual([`a - ${btoa('ours!')}`, `b - ${btoa('new b')}`]);
    const { root: third } = await clone('third');
    await push(testContext(copy), {});
    sandbox.write('third/a', 'third');
    expect(await pull(testContext(third), { conflicts: 'theirs' })).toMatchObject({ decided: 1, failed: 0 });
    expect(describeTree(third, { times: false })).toEqual(describeTree(copy, { times: false }));
  });

  it('can decide each conflict separately', async () => {
    const root = await startWorkspace();
    for (const name of ['a', 'b', 'c']) sandbox.write(`work/${name}`, 'one');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    for (const name of ['a', 'b', 'c']) {
      sandbox.write(`work/${name}`, `theirs ${name}`);
      sandbox.write(`copy/${name}`, `ours of ${name}`);
    }
    await push(testContext(root), {});
    const undecided = pull(testContext(copy), { decisions: { a: 'theirs', b: 'ours' } });
    await expect(undecided).rejects.toMatchObject({ code: 'conflict' });
    const decided = await pull(testContext(copy), { conflicts: 'ours', decisions: { b: 'theirs' } });
    expect(decided).toMatchObject({ decided: 3, failed: 0 });
    expect(describeTree(copy, { times: false })).toEqual([
      `a - ${btoa('ours of a')}`,
      `b - ${btoa('theirs b')}`,
      `c - ${btoa('ours of c')}`,
    ]);
  });

  it('replaces files and links by folders, and folders by files, however deep', async () => {
    const root = await startWorkspace();
    sandbox.write('work/file', 'a file');
    sandbox.write('work/folder/deep/er', 'in a folder');
    symlinkSync(sandbox.path('elsewhere'), sandbox.path('work/link'));
    sandbox.write('elsewhere/x', 'not of the workspace');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    for (const name of ['file', 'folder', 'link']) rmSync(sandbox.path(`work/${name}`), { recursive: true });
    sandbox.write('work/file/is/a/folder/now', 'deep');
    mkdirSync(sandbox.path('work/file/empty/too'), { recursive: true });
    sandbox.write('work/folder', 'a file now');
    sandbox.write('work/link/x', 'of the workspace');
    await push(testContext(root), {});
    expect(await pull(testContext(copy), {})).toMatchObject({ result: 'pulled', failed: 0 });
    expect(describeTree(copy)).toEqual(describeTree(root));
    expect(describeTree(sandbox.path('elsewhere'), { times: false })).toEqual([
      `x - ${btoa('not of the workspace')}`,
    ]);
  });

  it('does not write below an ignored file or an ignored link that exists only here', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    await push(testContext(root), {});
    const { before, copy } = await cloneWithIgnored();
    sandbox.write('work/secret/a/b', 'from there');
    sandbox.write('work/link/c', 'from there');
    await push(testContext(root), {});
    await expect(pull(testContext(copy), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['link/c', 'secret/a/b'] },
    });
    expect(describeTree(copy)).toEqual(before);
  });

  it('makes no empty folder where an ignored file or link is, and one where a file was', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    sandbox.write('work/was', 'a file');
    await push(testContext(root), {});
    const { before, copy } = await cloneWithIgnored();
    rmSync(sandbox.path('work/was'));
    for (const folder of ['secret', 'link', 'was']) mkdirSync(sandbox.path('work', folder));
    await push(testContext(root), {});
    await expect(pull(testContext(copy), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['link/', 'secret/'] },
    });
    expect(describeTree(copy)).toEqual(before);
    for (const path of ['copy/secret', 'copy/link']) rmSync(sandbox.path(path));
    expect(await pull(testContext(copy), {})).toMatchObject({ result: 'pulled', failed: 0 });
    for (const folder of ['secret', 'link', 'was'])
      expect(readdirSync(sandbox.path('copy', folder))).toEqual([]);
  });

  it('resumes after a kill between emptying a folder and writing a file in its place', async () => {
    const root = await startWorkspace();
    sandbox.write('work/d/deep/er', 'inside');
    sandbox.write('work/other', 'one');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    rmSync(sandbox.path('work/d'), { recursive: true });
    sandbox.write('work/d', 'a file now');
    await push(testContext(root), {});
    rmSync(sandbox.path('copy/d/deep/er'));
    expect(await pull(testContext(copy), {})).toMatchObject({ result: 'pulled', failed: 0 });
    expect(describeTree(copy)).toEqual(describeTree(root));
  });

  it('does not overwrite an ignored file that exists only here', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    sandbox.write('copy/.drayignore', 'secret\n');
    sandbox.write('copy/secret', 'only here');
    sandbox.write('work/secret', 'from there');
    await push(testContext(root), {});
    await expect(pull(testContext(copy), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['secret'] },
    });
    expect(describeTree(copy, { times: false })).toContain(`secret - ${btoa('only here')}`);
  });
});

describe('a push', () => {
  it('does not record unfinished copies into the workspace', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    sandbox.write('work/.dray-tmp/unfinished-0-1-0-0.part', Buffer.alloc(5_000_000));
    sandbox.write('work/sub/.dray-tmp/unfinished-0-1-0-0.part', 'half');
    expect(await push(testContext(root), {})).toMatchObject({ changes: { added: 1 }, failed: 0 });
    expect(await push(testContext(root), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('merges with what another user pushed meanwhile when the paths differ, and keeps both', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    sandbox.write('work/from-work', '1');
    await push(testContext(root), {});
    sandbox.write('copy/from-copy', '2');
    const merged = await push(testContext(copy), {});
    expect(merged).toMatchObject({ result: 'pushed' });
    expect(merged.mergedWith).toMatch(/^[0-9a-f]{64}$/);
    await pull(testContext(copy), {});
    await pull(testContext(root), {});
    expect(describeTree(copy)).toEqual(describeTree(root));
    expect(describeTree(root, { times: false })).toHaveLength(3);
  });

  it('sends nothing when another user pushed the same changes, and only the rest when they pushed a part', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    const { root: third } = await clone('third');
    sandbox.write('work/a', 'two!');
    sandbox.write('work/b', 'new');
    const { commit } = await push(testContext(root), {});
    sandbox.write('copy/a', 'two!');
    sandbox.write('copy/b', 'new');
    expect(await push(testContext(copy), {})).toMatchObject({ result: 'nothingToPush', commit });
    expect(await status(testContext(copy), {})).toMatchObject({ commit, changes: { added: 0, modified: 0 } });
    sandbox.write('third/b', 'new');
    expect(await push(testContext(third), {})).toMatchObject({ result: 'nothingToPush', commit });
    expect(await status(testContext(third), {})).toMatchObject({ changes: { added: 1 } });
    sandbox.write('third/c', 'more');
    expect(await push(testContext(third), {})).toMatchObject({ result: 'pushed', mergedWith: commit });
    await pull(testContext(root), {});
    await pull(testContext(third), {});
    expect(describeTree(third, { times: false })).toEqual(describeTree(root, { times: false }));
  });

  it('stops with a conflict when another user changed the same path, and sends nothing', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    await push(testContext(root), {});
    const { root: copy } = await clone('copy');
    sandbox.write('work/a', 'two!');
    await push(testContext(root), {});
    sandbox.write('copy/a', 'three');
    await expect(push(testContext(copy), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['a'] },
    });
  });

  it('notices an edit of the same size and the same second', async () => {
    const root = await startWorkspace();
    const file = sandbox.write('work/a', 'one');
    await push(testContext(root), {});
    writeFileSync(file, 'two');
    expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed', changes: { modified: 1 } });
  });

  it('counts a touched file as unchanged, and reads it once', async () => {
    const root = await startWorkspace();
    const file = sandbox.write('work/a', 'one');
    await push(testContext(root), {});
    utimesSync(file, 1, 1);
    expect(await push(testContext(root), {})).toMatchObject({ result: 'nothingToPush' });
    expect(await push(testContext(root), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('reports what a dry run would send, and sends nothing', async () => {
    const root = await startWorkspace();
    sandbox.write('work/a', 'one');
    const context = testContext(root);
    const dry = await push(context, { dryRun: true });
    expect(dry).toMatchObject({ result: 'wouldPush', commit: null, requests: { writes: 0 } });
    expect(eventsOf(context, 'change')).toMatchObject([{ change: 'added', path: 'a' }]);
    expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed' });
  });
});
