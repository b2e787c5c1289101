import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths } from '../../model/entry.ts';
import { createMemoryStore } from '../memory/memory-store.fixture.ts';
import type { ObjectStore } from '../object-store.ts';
import { type KeyRange, withinRange } from './within-range.ts';

async function listed(store: ObjectStore, limit: number, startAfter?: string): Promise<string[]> {
  const keys: string[] = [];
  let continuation: string | undefined;
  do {
    const from =
      continuation === undefined ? (startAfter === undefined ? {} : { startAfter }) : { continuation };
    const page = await store.list({ prefix: '', limit, ...from });
    keys.push(...page.objects.map(({ key }) => key));
    ({ continuation } = page);
  } while (continuation !== undefined);
  return keys;
}

async function storeOf(keys: readonly string[]): Promise<ObjectStore> {
  const store = createMemoryStore();
  for (const key of keys) await store.put(key, new Uint8Array(1));
  return store;
}

describe('A store within a range', () => {
  it('lists every key in exactly one of adjoining ranges, whatever the pages', async () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '写', '0'), minLength: 1, maxLength: 4 });
    const names = fc.uniqueArray(name, { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(names, names, fc.integer({ min: 1, max: 7 }), async (keys, cuts, limit) => {
        const store = await storeOf(keys);
        const bounds = cuts.toSorted(comparePaths);
        const ranges: KeyRange[] = [...bounds, undefined].map((upTo, at) => ({
          ...(at === 0 ? {} : { after: bounds[at - 1]! }),
          ...(upTo === undefined ? {} : { upTo }),
        }));
        const found: string[] = [];
        for (const range of ranges) found.push(...(await listed(withinRange(store, range), limit)));
        expect(found).toEqual(keys.toSorted(comparePaths));
      }),
    );
  });

  it('lists after the later of its own bound and the asked key', async () => {
    const store = withinRange(await storeOf(['a', 'b', 'c', 'd', 'e']), { after: 'b', upTo: 'd' });
    expect(await listed(store, 10, 'a')).toEqual(['c', 'd']);
    expect(await listed(store, 10, 'c')).toEqual(['d']);
    expect(await listed(store, 10, 'd')).toEqual([]);
  });

  it('asks for no page behind its end', async () => {
    const memory = await storeOf(['a', 'b', 'c', 'd', 'e', 'f']);
    let pages = 0;
    const counted: ObjectStore = {
      ...memory,
      list: (request, call) => {
        pages += 1;
        return memory.list(request, call);
      },
    };
    expect(await listed(withinRange(counted, { upTo: 'd' }), 2)).toEqual(['a', 'b', 'c', 'd']);
    expect(pages).toBe(2);
  });

  it('refuses a store that lists without order, because keys could get lost', async () => {
    const memory = await storeOf(['a', 'b', 'c']);
    const shuffled: ObjectStore = {
      ...memory,
      list: async (request, call) => {
        const page = await memory.list(request, call);
        return { ...page, objects: page.objects.toReversed() };
      },
    };
    const list = withinRange(shuffled, { upTo: 'b' }).list({ prefix: '' });
    await expect(list).rejects.toMatchObject({ code: 'unsupported' });
  });
});
