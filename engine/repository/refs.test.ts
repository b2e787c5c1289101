import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommitHash } from '../model/entry.ts';
import { openFileStore } from '../remotes/file/file-store.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { hashOfText } from './entries.fixture.ts';
import { commitKey } from './keys.ts';
import { checkRefName } from './ref-name.ts';
import { deleteRef, listAnyRefs, listRefs, moveRef, type RefValue, readRef } from './refs.ts';
import { resolveRef } from './resolve-ref.ts';

const REPOSITORY = '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77';

function refValue(name: string, epoch = 0): RefValue {
  return { commit: hashOfText(name) as CommitHash, epoch, repository: REPOSITORY };
}

async function storeWith(...names: readonly string[]): Promise<ObjectStore> {
  const store = createMemoryStore();
  for (const name of names) await moveRef(store, name, refValue(name), { absent: true });
  return store;
}

describe('a ref', () => {
  it('reads as it was written', async () => {
    const store = await storeWith('heads/feature/new');
    expect(await readRef(store, 'heads/feature/new')).toMatchObject({
      name: 'heads/feature/new',
      ...refValue('heads/feature/new'),
    });
    expect(await readRef(store, 'heads/other')).toBeUndefined();
  });

  it('moves only from the expected value', async () => {
    const store = await storeWith('heads/main');
    const seen = await readRef(store, 'heads/main');
    const moved = await moveRef(store, 'heads/main', refValue('second'), { etag: seen!.etag });
    expect(moved.moved).toBe(true);
    const late = await moveRef(store, 'heads/main', refValue('third'), { etag: seen!.etag });
    expect(late).toMatchObject({ moved: false, current: refValue('second') });
    const created = await moveRef(store, 'heads/main', refValue('third'), { absent: true });
    expect(created).toMatchObject({ moved: false, current: refValue('second') });
    await deleteRef(store, 'heads/main');
    const gone = await moveRef(store, 'heads/main', refValue('third'), { etag: seen!.etag });
    expect(gone).toEqual({ moved: false, current: undefined });
  });

  it('is moved or removed by only one of two writers, in a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-refs-'));
    try {
      const [ours, theirs] = await Promise.all([
        openFileStore({ root: folder }),
        openFileStore({ root: folder }),
      ]);
      for (let round = 0; round < 40; round += 1) {
        const name = `heads/b${round}`;
        await moveRef(ours, name, refValue('first'), { absent: true });
        const { etag } = (await readRef(ours, name))!;
        const [move, removal] = await Promise.allSettled([
          moveRef(theirs, name, refValue('pushed'), { etag }),
          deleteRef(ours, name, { ifMatch: etag }),
        ]);
        const isMoved = move.status === 'fulfilled' && move.value.moved;
        expect(removal.status).toBe(isMoved ? 'rejected' : 'fulfilled');
        expect((await readRef(ours, name))?.commit).toBe(isMoved ? refValue('pushed').commit : undefined);
      }
      await Promise.all([ours.close(), theirs.close()]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('counts as moved when a retried move finds its own value', async () => {
    const store = await storeWith('heads/main');
    const seen = await readRef(store, 'heads/main');
    const first = await moveRef(store, 'heads/main', refValue('second'), { etag: seen!.etag });
    expect(await moveRef(store, 'heads/main', refValue('second'), { etag: seen!.etag })).toEqual(first);
    const otherEpoch = await moveRef(store, 'heads/main', refValue('second', 1), { etag: seen!.etag });
    expect(otherEpoch.moved).toBe(false);
  });

  it('is moved by exactly one of many concurrent callers', async () => {
    const store = await storeWith('heads/main');
    const { etag } = (await readRef(store, 'heads/main'))!;
    const moves = Array.from({ length: 16 }, (_, at) =>
      moveRef(store, 'heads/main', refValue(`${at}`), { etag }),
    );
    const outcomes = await Promise.all(moves);
    expect(outcomes.filter((outcome) => outcome.moved)).toHaveLength(1);
  });

  it('does not exist after a deletion, which can be repeated', async () => {
    const store = await storeWith('tags/v1');
    await deleteRef(store, 'tags/v1');
    await deleteRef(store, 'tags/v1');
    expect(await readRef(store, 'tags/v1')).toBeUndefined();
  });

  it.each([
    '',
    'null',
    '{"format":1}',
    `{"format":1,"commit":"main","epoch":0,"repository":"${REPOSITORY}"}`,
    `{"format":1,"commit":"${hashOfText('a')}","epoch":-1,"repository":"${REPOSITORY}"}`,
    `{"format":1,"commit":"${hashOfText('a')}","epoch":0,"repository":"mine"}`,
    ' '.repeat(20_000),
  ])('that holds %j is damaged', async (text) => {
    const store = createMemoryStore();
    await store.put('refs/heads/main', Buffer.from(text));
    const reading = readRef(store, 'heads/main');
    await expect(reading).rejects.toMatchObject({ code: 'damaged', data: { key: 'refs/heads/main' } });
  });

  it('of a newer format asks for an upgrade', async () => {
    const store = createMemoryStore();
    await store.put('refs/heads/main', Buffer.from('{"format":2}'));
    await expect(readRef(store, 'heads/main')).rejects.toMatchObject({ code: 'formatTooNew' });
  });
});

describe('listing refs', () => {
  it('returns all of a kind in order, over pages, and leaves out other keys', async () => {
    const names = Array.from({ length: 1_100 }, (_, at) => `heads/b${String(at).padStart(4, '0')}`);
    const store = await storeWith(...names, 'tags/v1');
    await store.put('refs/heads/.DS_Store', Buffer.from('x'));
    expect((await listRefs(store, 'heads')).map((ref) => ref.name)).toEqual(names);
    expect((await listRefs(store, 'tags')).map((ref) => ref.commit)).toEqual([hashOfText('tags/v1')]);
    expect(await listRefs(createMemoryStore(), 'tags')).toEqual([]);
  });

  it('are not read again while they are listed with the same etag', async () => {
    const store = await storeWith('heads/a', 'heads/b');
    const before = await listAnyRefs(store, 'heads');
    await moveRef(store, 'heads/b', refValue('second'), { etag: before[1]!.etag });
    await moveRef(store, 'heads/c', refValue('new'), { absent: true });
    const read: string[] = [];
    const counted: ObjectStore = {
      ...store,
      read: (key, options) => {
        read.push(key);
        return store.read(key, options);
      },
    };
    const after = await listAnyRefs(counted, 'heads', {}, before);
    expect(after).toEqual(await listAnyRefs(store, 'heads'));
    expect(after.map(({ commit }) => commit)).toEqual(['heads/a', 'second', 'new'].map(hashOfText));
    expect(read.sort()).toEqual(['refs/heads/b', 'refs/heads/c']);
  });

  it('leaves out a ref that is deleted during the listing', async () => {
    const store = await storeWith('heads/a', 'heads/b');
    const racing: ObjectStore = {
      ...store,
      list: async (...call) => {
        const page = await store.list(...call);
        await deleteRef(store, 'heads/a');
        return page;
      },
    };
    expect((await listRefs(racing, 'heads')).map((ref) => ref.name)).toEqual(['heads/b']);
  });
});

describe('the name of a ref', () => {
  it.each(['main', 'feature/new', 'v1.0', 'release-2', 'caf\u00e9', 'a@b', '0123456'])(
    'can be %s',
    (name) => {
      expect(() => checkRefName(name)).not.toThrow();
    },
  );

  it.each([
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a..b',
    '.a',
    'a.',
    'a/.b',
    'a b',
    'a\tb',
    'a\0b',
    'a\x7f',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[0]',
    'a\\b',
    'a.lock',
    'a.lock/b',
    '@',
    'a@{1}',
    '-d',
    '\ud800',
    'x'.repeat(201),
    hashOfText('a'),
  ])('cannot be %j', (name) => {
    expect(() => checkRefName(name)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('is checked before any request', async () => {
    const store = createMemoryStore();
    for (const call of [
      readRef(store, 'heads/a b'),
      deleteRef(store, 'heads/../main'),
      listRefs(store, 'heads'),
    ].slice(0, 2)) {
      await expect(call).rejects.toMatchObject({ code: 'usage' });
    }
    await expect(readRef(store, 'main')).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('resolving the name of a commit', () => {
  it('tries a branch, then a tag, and says which it found', async () => {
    const store = await storeWith('heads/main', 'heads/both', 'tags/both', 'tags/v1');
    expect(await resolveRef(store, 'main')).toMatchObject({
      commit: hashOfText('heads/main'),
      ref: { name: 'heads/main' },
    });
    expect(await resolveRef(store, 'v1')).toMatchObject({
      commit: hashOfText('tags/v1'),
      ref: { name: 'tags/v1' },
    });
    expect((await resolveRef(store, 'both')).ref?.name).toBe('heads/both');
  });

  it('accepts a full hash, and the first digits of a commit when they are unique', async () => {
    const store = createMemoryStore();
    const first = `abcdef0${'1'.repeat(57)}` as CommitHash;
    const second = `abcdef1${'1'.repeat(57)}` as CommitHash;
    for (const hash of [first, second]) await store.put(commitKey(hash), Buffer.from('x'));
    expect(await resolveRef(store, first)).toEqual({ commit: first });
    expect(await resolveRef(store, 'abcdef0')).toEqual({ commit: first });
    expect(await resolveRef(store, second.slice(0, 20))).toEqual({ commit: second });
    await expect(resolveRef(store, 'abcdef')).rejects.toMatchObject({
      code: 'usage',
      data: { commits: [first, second] },
    });
    await expect(resolveRef(store, 'abcde')).rejects.toMatchObject({ code: 'notFound' });
    await expect(resolveRef(store, 'abcdef2')).rejects.toMatchObject({
      code: 'notFound',
      message: expect.stringContaining('abcdef2'),
    });
  });

  it('names what it searched for when nothing matches', async () => {
    const store = createMemoryStore();
    for (const text of ['mian', 'a b', '']) {
      const resolving = resolveRef(store, text);
      await expect(resolving).rejects.toMatchObject({
        code: 'notFound',
        message: expect.stringContaining(JSON.stringify(text)),
      });
    }
  });
});
