/** `REF~N`: the N-th commit before a ref, wherever a commit can be named. */
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listPlace } from '../one-place/list-place.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { openSession } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { exportVersion } from '../trees/export-version.ts';
import { createVersions } from '../versions/open-versions.ts';
import { diff } from '../working-copy/diff.ts';
import { restore } from '../working-copy/restore.ts';
import { listTree } from './list-tree.ts';
import { log } from './log.ts';
import { readCommitted } from './read-committed.ts';
import { branch, tag } from './refs.ts';

let sandbox: Sandbox;
let root: string;
let hashes: string[];
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  hashes = [];
  for (const text of ['one', 'two', 'three']) {
    sandbox.write('work/a', text);
    hashes.push((await push(testContext(root), { message: text })).commit!);
  }
});
afterEach(() => sandbox[Symbol.dispose]());

const messages = async (ref: string) => {
  const context = testContext(root);
  await log(context, { ref });
  return eventsOf(context, 'commit').map(({ message }) => message);
};
const contentOf = async (from: string) => {
  const chunks: Uint8Array[] = [];
  await readCommitted(testContext(root), { from, path: 'a' }, async (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks).toString();
};

describe('REF~N', () => {
  it('names the N-th commit before a branch, a tag, a hash, its first digits, and the base', async () => {
    await tag(testContext(root), { name: 'v1' });
    const [, two, three] = hashes;
    for (const name of ['main', 'v1', three!, three!.slice(0, 8), '@']) {
      expect(await contentOf(name)).toBe('three');
      expect(await contentOf(`${name}~0`)).toBe('three');
      expect(await contentOf(`${name}~`)).toBe('two');
      expect(await contentOf(`${name}~1`)).toBe('two');
      expect(await contentOf(`${name}~~`)).toBe('one');
      expect(await contentOf(`${name}~2`)).toBe('one');
    }
    expect(await messages('main~1')).toEqual(['two', 'one']);
    expect(await diff(testContext(root), { from: '@~2', to: '@~1' })).toMatchObject({
      from: hashes[0],
      to: two,
      changes: { modified: 1 },
    });
    expect(await listTree(testContext(root), { ref: '@~1' })).toMatchObject({ entries: 1 });
    await restore(testContext(root), { paths: ['a'], from: '@~2' });
    expect(readFileSync(`${root}/a`, 'utf8')).toBe('one');
    await restore(testContext(root), { paths: ['a'] });
    await branch(testContext(root), { name: 'old', ref: 'main~1' });
    await tag(testContext(root), { name: 'older', ref: 'old~1' });
    expect(await messages('older')).toEqual(['one']);
    await pull(testContext(root), { ref: 'main~2' });
    expect(readFileSync(`${root}/a`, 'utf8')).toBe('one');
  });

  it('names a version in places, exports, clones and the gateway', async () => {
    await exportVersion(testContext(root), { ref: 'main~1', destination: { place: sandbox.path('out') } });
    expect(readFileSync(sandbox.path('out/a'), 'utf8')).toBe('two');
    const listed = testContext(root);
    await listPlace(listed, { place: 'origin@main~2:' });
    expect(eventsOf(listed, 'entry')).toMatchObject([{ path: 'a', sizeBytes: 3 }]);
    await cloneWorkspace(testContext(sandbox.folder), {
      url: sandbox.path('store'),
      directory: 'copy',
      ref: 'main~1',
    });
    expect(readFileSync(sandbox.path('copy/a'), 'utf8')).toBe('two');
    using session = await openSession(testContext(root), 'test', 'shared');
    await using remote = await openSessionRemote(session);
    let reads = 0;
    const store = {
      ...remote.store,
      read: (...of: Parameters<typeof remote.store.read>) => {
        if (of[0].startsWith('commits/')) reads += 1;
        return remote.store.read(...of);
      },
    };
    const versions = createVersions(store);
    expect(await versions.resolve('main~2')).toBe(hashes[0]);
    const first = reads;
    expect(await versions.resolve('main~2')).toBe(hashes[0]);
    expect([first, reads]).toEqual([2, 2]);
  });

  it('says how many commits there are if the history is shorter, and bounds the walk', async () => {
    await expect(contentOf('main~3')).rejects.toMatchObject({
      code: 'notFound',
      message: 'There is no main~3: before main there are 2 commits.',
    });
    for (const name of ['main~10001', `main~${'9'.repeat(400)}`])
      await expect(contentOf(name)).rejects.toMatchObject({ code: 'usage' });
    await expect(contentOf('nothing~1')).rejects.toMatchObject({
      code: 'notFound',
      message: expect.stringContaining('"nothing"'),
    });
    await expect(contentOf('~1')).rejects.toMatchObject({ code: 'notFound' });
  });

  it('cannot be the name of a branch or a tag', async () => {
    for (const name of ['a~1', '~', 'a~']) {
      await expect(branch(testContext(root), { name })).rejects.toMatchObject({ code: 'usage' });
      await expect(tag(testContext(root), { name })).rejects.toMatchObject({ code: 'usage' });
      await expect(switchBranch(testContext(root), { name, create: true })).rejects.toMatchObject({
        code: 'usage',
      });
    }
    expect(existsSync(sandbox.path('store/refs/heads/main'))).toBe(true);
  });
});

describe('a branch or a tag that is moved by force', () => {
  it('says which commit it had', async () => {
    await tag(testContext(root), { name: 'v1' });
    expect(await tag(testContext(root), { name: 'v1', ref: '@~1', force: true })).toEqual({
      result: 'moved',
      refs: 1,
      previous: hashes[2],
    });
    expect(await branch(testContext(root), { name: 'main', ref: '@~2', force: true })).toMatchObject({
      previous: hashes[2],
    });
    expect(await branch(testContext(root), { name: 'new' })).toEqual({ result: 'created', refs: 1 });
  });
});
