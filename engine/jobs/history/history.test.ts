import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { config } from '../remotes/config.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { initWorkspace } from '../remotes/init.ts';
import { remoteAdd, remoteList, remoteRemove } from '../remotes/remotes.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { diff } from '../working-copy/diff.ts';
import { planRestore, restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { listTree } from './list-tree.ts';
import { log } from './log.ts';
import { branch, tag } from './refs.ts';
import { verify } from './verify.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  sandbox.write('work/a', 'one');
  sandbox.write('work/sub/b', 'bee');
  await push(testContext(root), { message: 'first' });
});
afterEach(() => sandbox[Symbol.dispose]());

async function changesOf(
  work: (context: ReturnType<typeof testContext>) => Promise<unknown>,
): Promise<string[]> {
  const context = testContext(root);
  await work(context);
  return eventsOf(context, 'change').map(({ change, path, fromPath }) =>
    fromPath === undefined ? `${change} ${path}` : `${change} ${fromPath} to ${path}`,
  );
}

describe('the history', () => {
  it('is logged newest first, with branches and tags at their commits', async () => {
    await tag(testContext(root), { name: 'v1' });
    sandbox.write('work/a', 'two');
    await push(testContext(root), { message: 'second' });
    const context = testContext(root);
    expect(await log(context, {})).toEqual({ commits: 2, isMore: false });
    expect(
      eventsOf(context, 'commit').map(({ message, refs, files, author }) => [message, refs, files, author]),
    ).toEqual([
      ['second', ['main'], 2, 'tester'],
      ['first', ['tag: v1'], 2, 'tester'],
    ]);
    const limited = testContext(root);
    expect(await log(limited, { limit: 1 })).toEqual({ commits: 1, isMore: true });
  });

  it('compares two commits, a commit with the working copy, and the base with the working copy', async () => {
    await tag(testContext(root), { name: 'v1' });
    sandbox.write('work/a', 'two');
    rmSync(sandbox.path('work/sub/b'));
    sandbox.write('work/c', 'bee');
    await push(testContext(root), {});
    sandbox.write('work/d', 'dee');
    chmodSync(sandbox.path('work/c'), 0o755);
    expect(await changesOf((context) => diff(context, {}))).toEqual(['mode c', 'added d']);
    // The folder that lost its last file is an empty folder now.
    expect(await changesOf((context) => diff(context, { from: 'v1', to: 'main' }))).toEqual([
      'modified a',
      'renamed sub/b to c',
      'added sub/',
    ]);
    expect(await changesOf((context) => diff(context, { from: 'v1' }))).toEqual([
      'modified a',
      'renamed sub/b to c',
      'added d',
      'added sub/',
    ]);
  });

  it('lists a commit by folder, with sizes, and everything below a path', async () => {
    const context = testContext(root);
    expect(await listTree(context, {})).toMatchObject({ entries: 2, bytes: 6 });
    expect(eventsOf(context, 'entry').map(({ path, kind, sizeBytes }) => [path, kind, sizeBytes])).toEqual([
      ['a', 'file', 3],
      ['sub/', 'folder', 3],
    ]);
    expect(await listTree(testContext(root), { path: 'sub', recursive: true })).toMatchObject({ entries: 1 });
    await expect(listTree(testContext(root), { path: 'nowhere' })).rejects.toMatchObject({
      code: 'notFound',
    });
  });
});

describe('restore', () => {
  it('brings a file back as the base has it, and from another commit as a change', async () => {
    sandbox.write('work/a', 'two');
    await push(testContext(root), {});
    rmSync(sandbox.path('work/a'));
    sandbox.write('work/sub/b', 'spoiled');
    expect(await restore(testContext(root), { paths: ['a', 'sub'] })).toMatchObject({
      restored: 2,
      failed: 0,
    });
    expect(describeTree(root, { times: false })).toEqual([
      `a - ${btoa('two')}`,
      'sub/',
      `sub/b - ${btoa('bee')}`,
    ]);
    expect(await changesOf((context) => status(context, {}))).toEqual([]);
    const first = testContext(root);
    await log(first, {});
    const oldest = eventsOf(first, 'commit').at(-1)!.commit;
    await restore(testContext(root), { paths: ['a'], from: oldest });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('one');
    expect(await changesOf((context) => status(context, {}))).toEqual(['modified a']);
    await expect(restore(testContext(root), { paths: ['nothing'] })).rejects.toMatchObject({
      code: 'notFound',
    });
    await expect(restore(testContext(root), { paths: ['../work2'] })).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it.skipIf(process.platform === 'win32')(
    'treats a backslash as part of a name (not on Windows)',
    async () => {
      const name = 'sub\\b';
      sandbox.write(`work/${name}`, 'not bee');
      await push(testContext(root), {});
      for (const path of [name, 'sub/b']) rmSync(join(root, path));
      expect(await restore(testContext(root), { paths: [name] })).toMatchObject({ restored: 1, failed: 0 });
      expect(readFileSync(join(root, name), 'utf8')).toBe('not bee');
      expect(await changesOf((context) => status(context, {}))).toEqual(['added sub/', 'deleted sub/b']);
    },
  );
});

describe('a restore that keeps changes', () => {
  it('names the changes that it would lose and refuses to lose them, and restores files without such changes', async () => {
    sandbox.write('work/a', 'two');
    await push(testContext(root), {});
    const first = testContext(root);
    await log(first, {});
    const from = eventsOf(first, 'commit').at(-1)!.commit;
    const request = { paths: ['a', 'sub'], from, keepsChanges: true };
    expect(await planRestore(testContext(root), request)).toEqual({
      files: 1,
      bytes: 3,
      changed: 0,
      changedPaths: [],
    });
    sandbox.write('work/a', 'three, and never pushed');
    expect(await planRestore(testContext(root), request)).toMatchObject({ changed: 1, changedPaths: ['a'] });
    await expect(restore(testContext(root), request)).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('three, and never pushed');
    sandbox.write('work/a', 'two');
    expect(await restore(testContext(root), request)).toMatchObject({ restored: 1, failed: 0 });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('one');
  });
});

describe('branches and tags', () => {
  it('let two lines of work live side by side', async () => {
    await switchBranch(testContext(root), { name: 'trial', create: true });
    sandbox.write('work/a', 'trial');
    await push(testContext(root), {});
    await switchBranch(testContext(root), { name: 'main' });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('one');
    const context = testContext(root);
    await branch(context, {});
    expect(eventsOf(context, 'ref').map(({ name, current }) => [name, current])).toEqual([
      ['main', true],
      ['trial', false],
    ]);
    await switchBranch(testContext(root), { name: 'trial' });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('trial');
    await expect(switchBranch(testContext(root), { name: 'nope' })).rejects.toMatchObject({
      code: 'notFound',
    });
    await expect(branch(testContext(root), { name: 'trial', remove: true })).rejects.toMatchObject({
      code: 'usage',
    });
    expect(await branch(testContext(root), { name: 'main', remove: true })).toMatchObject({
      result: 'removed',
    });
  });

  it('keep a tag where it is unless the move is forced', async () => {
    expect(await tag(testContext(root), { name: 'v1' })).toMatchObject({ result: 'created' });
    sandbox.write('work/a', 'two');
    await push(testContext(root), {});
    await expect(tag(testContext(root), { name: 'v1' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await tag(testContext(root), { name: 'v1', force: true })).toMatchObject({ result: 'moved' });
    expect(await tag(testContext(root), { name: 'v1', remove: true })).toMatchObject({ result: 'removed' });
    await expect(tag(testContext(root), { name: 'a..b' })).rejects.toMatchObject({ code: 'usage' });
  });

  it('can be cloned and pulled by name', async () => {
    await tag(testContext(root), { name: 'v1' });
    sandbox.write('work/a', 'two');
    await push(testContext(root), {});
    const url = sandbox.path('store');
    await cloneWorkspace(testContext(sandbox.folder), { url, directory: 'old', ref: 'v1' });
    expect(readFileSync(sandbox.path('old/a'), 'utf8')).toBe('one');
    await pull(testContext(root), { ref: 'v1' });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('one');
    expect(await status(testContext(root), { remote: true })).toMatchObject({
      upstream: { state: 'behind', changes: { modified: 1 } },
    });
  });
});

describe('a second remote', () => {
  it('gets the whole dataset, and both stay usable in turn', async () => {
    const second = sandbox.path('second');
    await initWorkspace(testContext(sandbox.path('other')), {
      remoteUrl: second,
      layout: { kind: 'objects' },
    });
    await remoteAdd(testContext(root), { name: 'backup', url: second });
    expect(await remoteList(testContext(root))).toEqual({ remotes: 2 });
    const backup = { remoteName: 'backup' };
    expect(await push(testContext(root, backup), {})).toMatchObject({
      result: 'pushed',
      changes: { added: 2 },
    });
    sandbox.write('work/a', 'two');
    // An old time: otherwise the file's age alone would make the scan read it again.
    utimesSync(join(root, 'a'), 1_000_000, 1_000_000.25);
    expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed', changes: { modified: 1 } });
    expect(await push(testContext(root, backup), {})).toMatchObject({
      result: 'pushed',
      changes: { modified: 1 },
    });
    await cloneWorkspace(testContext(sandbox.folder), { url: second, directory: 'copy' });
    expect(describeTree(sandbox.path('copy'))).toEqual(describeTree(root));
    await expect(remoteRemove(testContext(root), { name: 'origin' })).rejects.toMatchObject({
      code: 'usage',
    });
    expect(await remoteRemove(testContext(root), { name: 'backup' })).toEqual({ remotes: 1 });
  });

  it('of another layout sees an equal large file as unchanged, and so does the first one afterwards', async () => {
    const large = randomBytes(5_000_000);
    for (const [name, layout] of [
      ['cut', { kind: 'packs', chunkAbove: 4_000_000 }],
      ['whole', { kind: 'objects' }],
    ] as const) {
      const context = testContext(sandbox.path(name, '.'));
      mkdirSync(sandbox.path(name), { recursive: true });
      await initWorkspace(context, { remoteUrl: sandbox.path(`${name} store`), layout });
      // An old time: otherwise the file's age alone would make the scan read it again.
      utimesSync(sandbox.write(`${name}/large`, large), 1_000_000, 1_000_000);
      await push(context, {});
    }
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('cut store'), directory: 'clone' });
    for (const name of ['cut', 'clone']) {
      const second = testContext(sandbox.path(name), { remoteName: 'second' });
      const first = testContext(sandbox.path(name));
      await remoteAdd(first, { name: 'second', url: sandbox.path('whole store') });
      expect(await pull(second, {})).toMatchObject({ result: 'pulled', downloadedBytes: 0, failed: 0 });
      for (const context of [second, first, second]) {
        expect(await status(context, {})).toMatchObject({ changes: { added: 0, modified: 0 } });
        expect(await pull(context, {})).toMatchObject({ result: 'upToDate' });
      }
    }
  });
});

describe('a remote', () => {
  it('cannot have the name of a property that every JavaScript object has', async () => {
    const usage = { code: 'usage' };
    await expect(push(testContext(root, { remoteName: 'constructor' }), {})).rejects.toMatchObject(usage);
    const added = remoteAdd(testContext(root), { name: 'constructor', url: sandbox.path('second') });
    await expect(added).rejects.toMatchObject(usage);
    const set = config(testContext(root), { name: 'remote.default', value: 'toString' });
    await expect(set).rejects.toMatchObject(usage);
  });
});

describe('verify', () => {
  it('finds nothing in an intact repository, and reads all of it on request', async () => {
    sandbox.write('work/big', randomBytes(2_000_000));
    await push(testContext(root), {});
    const summary = await verify(testContext(root), { readDataPercent: 100 });
    expect(summary).toMatchObject({ commits: 2, objects: 2, missing: 0, damaged: 0, affectedPaths: 0 });
    expect(summary.readBytes).toBeGreaterThan(2_000_000);
  });
});

describe('settings', () => {
  it('are stored, shown and refused by name', async () => {
    await config(testContext(root), { name: 'author', value: 'Ada' });
    const context = testContext(root);
    await config(context, {});
    expect(eventsOf(context, 'setting').map(({ name, value }) => [name, value])).toEqual([
      ['author', 'Ada'],
      ['remote.default', 'origin'],
    ]);
    for (const value of ['many', '0', '1025'])
      await expect(config(testContext(root), { name: 'transfers', value })).rejects.toMatchObject({
        code: 'usage',
      });
    await expect(config(testContext(root), { name: 'nonsense' })).rejects.toMatchObject({ code: 'usage' });
    writeFileSync(join(root, 'a'), 'by ada');
    await push(testContext(root), {});
    const logged = testContext(root);
    await log(logged, { limit: 1 });
    expect(eventsOf(logged, 'commit')[0]?.author).toBe('Ada');
    expect(await config(testContext(root), { name: 'author', value: null })).toEqual({ settings: 1 });
  });
});
