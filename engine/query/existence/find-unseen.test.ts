import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { createFaults, withFaults } from '../../remotes/wrappers/with-faults.fixture.ts';
import { findUnseen, type WrittenObject } from './find-unseen.ts';

const { signal } = new AbortController();
const limit = { run: <T>(task: () => Promise<T>) => task() };

const keysOf = (objects: readonly WrittenObject[]) => objects.map(({ key }) => key);

/** Puts all keys, except those in `lost`, which the store only claims to have. */
async function put(keys: readonly string[], lost: ReadonlySet<string> = new Set()) {
  const asked: string[] = [];
  const memory = createMemoryStore();
  const faults = createFaults();
  if (lost.size > 0)
    faults
      .add('put')
      .when((call) => lost.has(String(call.arguments[0])))
      .answerInstead({ written: true, etag: 'said' })
      .repeat(lost.size);
  const faulty = withFaults(memory, faults);
  const store: ObjectStore = {
    ...faulty,
    head: (key, call) => {
      asked.push(`HEAD ${key}`);
      return faulty.head(key, call);
    },
    list: (request, call) => {
      asked.push('LIST');
      return faulty.list(request, call);
    },
  };
  const written: WrittenObject[] = [];
  for (const key of keys) {
    const outcome = await store.put(key, Buffer.from(key));
    written.push({ key, sizeBytes: key.length, ...(outcome.written ? { etag: outcome.etag } : {}) });
  }
  faults.verifyAllExercised();
  return { asked, memory, store, written };
}

const numbered = (count: number, prefix = 'objects/') =>
  Array.from({ length: count }, (_, at) => `${prefix}${String(at).padStart(5, '0')}`);

describe('a check of written objects', () => {
  it('takes one HEAD for a single object', async () => {
    const { asked, store, written } = await put(['packs/a']);
    expect(await findUnseen(store, written, { limit, signal })).toEqual([]);
    expect(asked).toEqual(['HEAD packs/a']);
  });

  it('takes one listing page for each thousand adjacent objects', async () => {
    const { asked, store, written } = await put(numbered(2_500));
    expect(await findUnseen(store, written, { limit, signal })).toEqual([]);
    expect(asked).toEqual(['LIST', 'LIST', 'LIST']);
  });

  it('takes a HEAD for each object where a page shows few of them, after one such page', async () => {
    const mine = numbered(20).map((key) => `${key}-mine`);
    const { asked, memory, store, written } = await put(mine);
    for (const key of mine)
      for (const other of numbered(200, `${key}-`)) await memory.put(other, Buffer.alloc(0));
    expect(await findUnseen(store, written, { limit, signal })).toEqual([]);
    expect(asked.filter((request) => request === 'LIST')).toHaveLength(1);
    expect(asked.length).toBeLessThanOrEqual(1 + mine.length);
  });

  it.each([1, 11, 12, 1_500])('finds the lost objects among %i', async (count) => {
    const keys = numbered(count);
    const lost = new Set([keys[0]!, keys[count >> 1]!, keys.at(-1)!]);
    const { store, written } = await put(keys, lost);
    expect(keysOf(await findUnseen(store, written, { limit, signal }))).toEqual([...lost]);
  });

  it('reports an object with its old content, and accepts that of another writer', async () => {
    const { memory, store } = await put([]);
    await memory.put('a', Buffer.from('old'));
    const replacedEtag = (await memory.head('a'))!.etag;
    const written = { key: 'a', sizeBytes: 3, etag: 'said', replacedEtag };
    expect(keysOf(await findUnseen(store, [written], { limit, signal }))).toEqual(['a']);
    await memory.put('a', Buffer.from('theirs'));
    expect(await findUnseen(store, [written], { limit, signal })).toEqual([]);
  });

  it('sends no request to a store that confirms its writes itself', async () => {
    const { asked, store, written } = await put(numbered(20));
    expect(await findUnseen({ ...store, confirmsWrites: true }, written, { limit, signal })).toEqual([]);
    expect(asked).toEqual([]);
  });
});
