import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ListedObject, ObjectStore } from '../../remotes/object-store.ts';
import { createAdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { keyOfObject } from './huge-listing.fixture.ts';
import { listContent } from './list-content.ts';

/** Pages of at most `limit` keys, so that a few keys make many pages. */
function inSmallPages(store: ObjectStore, limit: number, onList: () => void): ObjectStore {
  return {
    ...store,
    list: (request, options) => {
      onList();
      return store.list({ ...request, limit }, options);
    },
  };
}

async function listAll(store: ObjectStore): Promise<string[]> {
  const found: string[] = [];
  const limit = createAdaptiveLimit({ clock: systemClock, fixed: 4 });
  const { signal } = new AbortController();
  const onPage = (page: readonly ListedObject[]) => void found.push(...page.map(({ key }) => key));
  await listContent({ store, limit, signal, onPage });
  return found.sort();
}

describe('the listing of content', () => {
  it('calls back with each key once, foreign ones included, whatever the size of pages', async () => {
    const foreign = fc.constantFrom('objects/00/a', 'objects/é', 'objects/zz/~', 'packs/x', 'objects/7f');
    const keys = fc.uniqueArray(
      fc.oneof(
        fc.nat(999).map((at) => keyOfObject(at, 1_000)),
        foreign,
      ),
      {
        maxLength: 400,
      },
    );
    await fc.assert(
      fc.asyncProperty(keys, fc.integer({ min: 1, max: 9 }), async (all, size) => {
        const store = createMemoryStore();
        for (const key of [...all, 'dray.json', 'refs/heads/main']) await store.put(key, new Uint8Array());
        expect(await listAll(inSmallPages(store, size, () => {}))).toEqual(all.toSorted());
      }),
      { numRuns: 60 },
    );
  });

  it('takes at most a fifth more requests than there are pages, and a few at once', async () => {
    const store = createMemoryStore();
    const [count, size] = [4_000, 20];
    for (let at = 0; at < count; at += 1) await store.put(keyOfObject(at, count), new Uint8Array());
    let lists = 0;
    expect(await listAll(inSmallPages(store, size, () => (lists += 1)))).toHaveLength(count);
    const otherPrefixes = 4;
    expect(lists).toBeLessThanOrEqual((count / size) * 1.2 + otherPrefixes);
  });

  it('stops when a page fails', async () => {
    const store = createMemoryStore();
    for (let at = 0; at < 100; at += 1) await store.put(keyOfObject(at, 100), new Uint8Array());
    let lists = 0;
    const broken = inSmallPages(store, 2, () => {
      lists += 1;
      if (lists === 9) throw new Error('broken');
    });
    await expect(listAll(broken)).rejects.toThrow('broken');
    expect(lists).toBeLessThan(30);
  });
});
