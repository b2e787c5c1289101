import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths } from '../model/entry.ts';
import type { TreeItem } from '../model/tree-item.ts';
import { createMemoryStore } from '../remotes/memory-store.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { createMeter, withMeter } from '../remotes/with-meter.ts';
import { beforePath } from './before-path.ts';
import { listTreeItems, UnorderedListing } from './object-pages.ts';
import { createLookupTally, lookUpDestination, lookUpLocal } from './tree-lookup.ts';

const signal = new AbortController().signal;
const limit = { run: <T>(task: () => Promise<T>) => task() };

function item(path: string): TreeItem {
  return { path, kind: 'file', sizeBytes: 1, token: 't', modifiedMs: 0 };
}

async function* inBatches(paths: readonly string[], size = 1_000): AsyncGenerator<readonly TreeItem[]> {
  for (let at = 0; at < paths.length; at += size) yield paths.slice(at, at + size).map(item);
}

async function storeOf(keys: readonly string[]): Promise<ObjectStore> {
  const store = createMemoryStore();
  for (const key of keys) await store.put(key, new Uint8Array(1));
  return store;
}

interface Looked {
  readonly there: readonly string[];
  readonly absent: readonly string[];
  readonly extras: readonly string[];
  readonly requests: number;
  readonly chosen: string;
}

async function look(
  store: ObjectStore,
  source: readonly string[],
  options: { readonly wantExtras?: boolean; readonly pageSize?: number; readonly batch?: number } = {},
): Promise<Looked> {
  const meter = createMeter('local');
  const tally = createLookupTally();
  const there: string[] = [];
  const absent: string[] = [];
  const extras: string[] = [];
  const seen: string[] = [];
  for await (const batch of lookUpDestination({
    source: inBatches(source, options.batch),
    store: withMeter(store, meter),
    limit,
    signal,
    tally,
    wantExtras: options.wantExtras ?? false,
    ...(options.pageSize === undefined ? {} : { pageSize: options.pageSize }),
  })) {
    for (const { source: from, destination } of batch.pairs) {
      seen.push(from.path);
      if (destination) expect(destination.path).toBe(from.path);
      (destination ? there : absent).push(from.path);
    }
    extras.push(...batch.extras.map(({ path }) => path));
  }
  expect(seen).toEqual(source);
  expect(extras).toEqual(extras.toSorted(comparePaths));
  const { total } = meter.totals();
  expect(tally.lists + tally.heads).toBe(total);
  return { there, absent, extras, requests: total, chosen: tally.chosen };
}

const numbered = (count: number, step = 1) =>
  Array.from({ length: count }, (_, at) => `part-${String(at * step).padStart(8, '0')}`);

describe('looking up a source at a store', () => {
  it('takes one request where both hold the same 1,000 names and all has to be seen', async () => {
    const names = numbered(1_000);
    const looked = await look(await storeOf(names), names, { wantExtras: true });
    expect(looked).toMatchObject({ there: names, absent: [], extras: [], requests: 1 });
  });

  it('takes one HEAD for one name among 50,000, and one page for 50,000 names at an empty place', async () => {
    const store = await storeOf(numbered(50_000));
    expect(await look(store, ['part-00000777'])).toMatchObject({ requests: 1, chosen: 'each' });
    const none = await look(createMemoryStore(), numbered(50_000));
    expect(none).toMatchObject({ requests: 1, there: [], chosen: 'list' });
    expect(none.absent).toHaveLength(50_000);
  });

  it('takes at most 60 requests for 500 names spread over 50,000, and 2 where they lie together', async () => {
    const store = await storeOf(numbered(50_000));
    const spread = await look(store, numbered(500, 100));
    expect(spread.requests).toBeLessThanOrEqual(60);
    expect(spread).toMatchObject({ absent: [], extras: [], chosen: 'leapfrog' });
    const together = numbered(30_000).slice(29_000, 29_500);
    expect((await look(store, together)).requests).toBeLessThanOrEqual(2);
  });

  it('takes at most 55 requests for 50,000 names that are all there, seen or not seen whole', async () => {
    const names = numbered(50_000);
    const store = await storeOf(names);
    expect((await look(store, names)).requests).toBeLessThanOrEqual(55);
    expect((await look(store, names, { wantExtras: true })).requests).toBeLessThanOrEqual(55);
  });

  it('asks name by name where the destination is far denser than the source', async () => {
    const looked = await look(await storeOf(numbered(50_000)), numbered(100, 500));
    expect(looked.there).toHaveLength(100);
    expect(looked.requests).toBeLessThanOrEqual(110);
  });

  it('finds what a plain set would, for any names and any size of pages', async () => {
    const name = fc.array(fc.constantFrom('a', 'b', '!', '0', '\u{e000}', '\u{1f600}', '-', '\u00e9'), {
      minLength: 1,
      maxLength: 4,
    });
    const names = fc.uniqueArray(
      name.map((parts) => parts.join('')),
      { maxLength: 120 },
    );
    await fc.assert(
      fc.asyncProperty(
        names,
        names,
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        async (left, right, wantExtras, pageSize) => {
          const source = left.toSorted(comparePaths);
          const looked = await look(await storeOf(right), source, { wantExtras, pageSize, batch: 7 });
          const there = new Set(right);
          expect(looked.there).toEqual(source.filter((path) => there.has(path)));
          const wanted = new Set(source);
          const extras = right.filter((path) => !wanted.has(path)).toSorted(comparePaths);
          expect(looked.extras).toEqual(wantExtras ? extras : []);
        },
      ),
      { numRuns: 300, seed: 7 },
    );
  });

  it('refuses a listing that is in no order', async () => {
    const store = await storeOf(['a', 'b', 'c']);
    const shuffled: ObjectStore = {
      ...store,
      list: async (request, call) => {
        const page = await store.list(request, call);
        return { ...page, objects: page.objects.toReversed() };
      },
    };
    await expect(look(shuffled, numbered(20), { wantExtras: true })).rejects.toThrow(UnorderedListing);
    const items: string[] = [];
    for await (const page of listTreeItems({ store: shuffled, limit, signal, isUnordered: true }))
      items.push(...page.map(({ path }) => path));
    expect(items).toEqual(['c', 'b', 'a']);
  });

  it('lets windows wait for each other in few rounds, not one after the other', async () => {
    const names = numbered(40_000);
    const store = await storeOf(names);
    let rounds = 0;
    let inRound = 0;
    const slow: ObjectStore = {
      ...store,
      list: async (request, call) => {
        inRound += 1;
        if (inRound === 1) {
          // All that is asked in one turn of the event loop shares a round trip.
          await new Promise((resolve) => setImmediate(resolve));
          rounds += 1;
          inRound = 0;
        } else {
          await new Promise((resolve) => setImmediate(resolve));
        }
        return store.list(request, call);
      },
    };
    await look(slow, names, { wantExtras: true });
    expect(rounds).toBeLessThanOrEqual(25);
  });
});

describe('the string before a path', () => {
  it('is below it, with nothing between that begins otherwise', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 6 })
      .filter((path) => path.isWellFormed());
    fc.assert(
      fc.property(text, text, (path, other) => {
        const before = beforePath(path);
        expect(comparePaths(before, path)).toBeLessThan(0);
        const isBetween = comparePaths(before, other) < 0 && comparePaths(other, path) < 0;
        if (isBetween) expect(other.startsWith(before)).toBe(true);
      }),
      { numRuns: 2_000, seed: 3 },
    );
  });
});

describe('looking up a source in a folder', () => {
  it('asks for up to 1,000 names one by one, and merges with a scan beyond', async () => {
    const run = async (count: number) => {
      let stats = 0;
      let scans = 0;
      const tally = createLookupTally();
      const there: string[] = [];
      for await (const { pairs } of lookUpLocal({
        source: inBatches(numbered(count)),
        statLocal: (path) => {
          stats += 1;
          return path.endsWith('7') ? item(path) : undefined;
        },
        scan: () => {
          scans += 1;
          return inBatches(numbered(count).filter((path) => path.endsWith('7')));
        },
        wantExtras: false,
        tally,
      }))
        there.push(...pairs.filter(({ destination }) => destination).map(({ source }) => source.path));
      expect(there).toEqual(numbered(count).filter((path) => path.endsWith('7')));
      return { stats, scans, chosen: tally.chosen };
    };
    expect(await run(1_000)).toEqual({ stats: 1_000, scans: 0, chosen: 'each' });
    expect(await run(1_001)).toEqual({ stats: 0, scans: 1, chosen: 'scan' });
  });
});
