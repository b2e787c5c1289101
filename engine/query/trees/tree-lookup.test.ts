import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../base/long-it.fixture.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { createMeter, withMeter } from '../../remotes/wrappers/with-meter.ts';
import { UnorderedListing } from './object-pages.ts';
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

describe('looking up a source on a store', () => {
  it('takes one request when both have the same 1,000 names and everything has to be listed', async () => {
    const names = numbered(1_000);
    const looked = await look(await storeOf(names), names, { wantExtras: true });
    expect(looked).toMatchObject({ there: names, absent: [], extras: [], requests: 1 });
  });

  it('takes one HEAD for one name among 50,000, and one page for 50,000 names when empty', async () => {
    const store = await storeOf(numbered(50_000));
    expect(await look(store, ['part-00000777'])).toMatchObject({ requests: 1, chosen: 'each' });
    const none = await look(createMemoryStore(), numbered(50_000));
    expect(none).toMatchObject({ requests: 1, there: [], chosen: 'list' });
    expect(none.absent).toHaveLength(50_000);
  });

  it('takes at most 60 requests for 500 names spread over 50,000, and 2 when they are adjacent', async () => {
    const store = await storeOf(numbered(50_000));
    const spread = await look(store, numbered(500, 100));
    expect(spread.requests).toBeLessThanOrEqual(60);
    expect(spread).toMatchObject({ absent: [], extras: [], chosen: 'leapfrog' });
    const together = numbered(30_000).slice(29_000, 29_500);
    expect((await look(store, together)).requests).toBeLessThanOrEqual(2);
  });

  longIt('takes a request for each of 50 pages, and hardly more when the sides differ', async () => {
    const names = numbered(50_000);
    const store = await storeOf(names);
    for (const wantExtras of [false, true]) {
      expect(await look(store, names, { wantExtras })).toMatchObject({ requests: 50, absent: [] });
      const grown = names.flatMap((name, at) => (at % 97 === 0 ? [name, `${name}+`] : [name]));
      expect((await look(store, grown, { wantExtras })).requests).toBeLessThanOrEqual(wantExtras ? 56 : 54);
      const denser = names.flatMap((name) => Array.from('0123', (end) => name + end));
      expect((await look(store, denser, { wantExtras })).requests).toBeLessThanOrEqual(wantExtras ? 60 : 56);
      const thin = names.filter((_, at) => at % 20 === 0);
      expect((await look(store, thin, { wantExtras })).requests).toBeLessThanOrEqual(wantExtras ? 56 : 54);
    }
  });

  it('skips the pages of stretches without source names', async () => {
    const names = numbered(50_000);
    const patches = names.filter((_, at) => at % 10_000 < 1_000);
    const looked = await look(await storeOf(names), patches);
    expect(looked).toMatchObject({ there: patches, absent: [] });
    expect(looked.requests).toBeLessThanOrEqual(8);
  });

  it('asks name by name when the destination is far denser than the source', async () => {
    const looked = await look(await storeOf(numbered(50_000)), numbered(100, 500));
    expect(looked.there).toHaveLength(100);
    expect(looked.requests).toBeLessThanOrEqual(110);
  });

  it('finds the same as a plain set, for any names and page sizes', async () => {
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
      { numRuns: runBudget({ short: 25, long: 300 }), seed: 7 },
    );
  });

  it('finds the same as a plain set when dense and empty stretches alternate', async () => {
    const stretch = fc.record({
      kind: fc.constantFrom('both', 'source', 'destination', 'every 5th', 'every 40th'),
      length: fc.integer({ min: 1, max: 900 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(stretch, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.integer({ min: 2, max: 40 }),
        async (stretches, wantExtras, pageSize) => {
          const source: string[] = [];
          const destination: string[] = [];
          for (const [turn, { kind, length }] of stretches.entries()) {
            for (let at = 0; at < length; at += 1) {
              const name = `${String(turn).padStart(2, '0')}/${String(at).padStart(4, '0')}`;
              const step = kind === 'every 5th' ? 5 : kind === 'every 40th' ? 40 : 1;
              if (kind !== 'destination' && at % step === 0) source.push(name);
              if (kind !== 'source') destination.push(name);
            }
          }
          const looked = await look(await storeOf(destination), source, { wantExtras, pageSize });
          const there = new Set(destination);
          expect(looked.there).toEqual(source.filter((path) => there.has(path)));
          const wanted = new Set(source);
          expect(looked.extras).toEqual(wantExtras ? destination.filter((path) => !wanted.has(path)) : []);
        },
      ),
      { numRuns: runBudget({ short: 20, long: 80 }), seed: 17 },
    );
  });

  it('sends no request once a listing has ended', async () => {
    const store = await storeOf(numbered(3_000));
    const names = numbered(60_000);
    expect((await look(store, names)).requests).toBeLessThanOrEqual(4);
    const looked = await look(store, names, { wantExtras: true });
    expect(looked.requests).toBeLessThanOrEqual(4);
    expect(looked.absent).toHaveLength(57_000);
  });

  it('advances when thousands of keys are right before a long name', async () => {
    const folder = 'a'.repeat(300);
    const before = numbered(2_500).map((name) => `${folder}4/${name}`);
    const names = ['5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E'].map((end) => folder + end);
    const store = await storeOf([...before, ...names, `${folder}F`]);
    const looked = await look(store, names);
    expect(looked).toMatchObject({ there: names, absent: [] });
    expect(looked.requests).toBeLessThanOrEqual(names.length + 4);
  });

  it('looks up a name that no store accepts without failing', async () => {
    const store = await storeOf(['a']);
    expect(await look(store, ['../b', 'a'])).toMatchObject({ absent: ['../b'], there: ['a'] });
  });

  it('returns the time from the metadata when it sends a HEAD', async () => {
    const store = createMemoryStore();
    await store.put('a', new Uint8Array(1), { metadata: { mtime: '1700000000.123456789' } });
    await store.put('b', new Uint8Array(1), { metadata: { mtime: 'yesterday' } });
    const found: (TreeItem | undefined)[] = [];
    for await (const { pairs } of lookUpDestination({
      source: inBatches(['a', 'b']),
      store,
      limit,
      signal,
      tally: createLookupTally(),
      wantExtras: false,
    }))
      found.push(...pairs.map(({ destination }) => destination));
    expect(found[0]).toMatchObject({ path: 'a', mtimeNs: 1_700_000_000_123_456_789n, token: 'm1' });
    expect(found[1]).not.toHaveProperty('mtimeNs');
  });

  it('refuses an unordered listing', async () => {
    const store = await storeOf(['a', 'b', 'c']);
    const shuffled: ObjectStore = {
      ...store,
      list: async (request, call) => {
        const page = await store.list(request, call);
        return { ...page, objects: page.objects.toReversed() };
      },
    };
    await expect(look(shuffled, numbered(20), { wantExtras: true })).rejects.toThrow(UnorderedListing);
  });

  it('takes few rounds of concurrent requests, whatever the names', async () => {
    const names = numbered(40_000);
    const store = await storeOf(names);
    expect(await roundsOf(store, names, true)).toBeLessThanOrEqual(10);
    expect(await roundsOf(store, names, false)).toBeLessThanOrEqual(10);
    // 4,000 HEADs in rounds of 512, and a page now and then.
    const sparse = await storeOf(
      numbered(4_000).flatMap((name) => Array.from('0123456789', (end) => `${name}${end}`)),
    );
    const wanted = numbered(4_000).filter((_, at) => at % 25 === 0);
    expect(await roundsOf(sparse, wanted, false, 100)).toBeLessThanOrEqual(4);
  });

  it('buffers a bounded part of the source, even with a slow store', async () => {
    let pulled = 0;
    let matched = 0;
    let most = 0;
    async function* counted(count: number) {
      for (let at = 0; at < count; at += 1_000) {
        pulled += 1_000;
        most = Math.max(most, pulled - matched);
        yield Array.from({ length: 1_000 }, (_, more) => item(String(at + more).padStart(8, '0')));
      }
    }
    for (const wantExtras of [false, true]) {
      for (const keys of [2_500, 40_000]) {
        pulled = 0;
        matched = 0;
        const step = Math.floor(400_000 / keys);
        const store = await storeOf(
          Array.from({ length: keys }, (_, at) => String(at * step).padStart(8, '0')),
        );
        const source = counted(400_000);
        const options = { source, store, limit, signal, tally: createLookupTally(), wantExtras };
        for await (const { pairs } of lookUpDestination(options)) matched += pairs.length;
        expect(matched).toBe(400_000);
      }
    }
    expect(most).toBeLessThanOrEqual(150_000);
  });

  it('closes the source when the store fails and when the consumer stops', async () => {
    const names = numbered(5_000);
    const store = await storeOf(names);
    let closed = 0;
    async function* watched() {
      try {
        yield* inBatches(names);
      } finally {
        closed += 1;
      }
    }
    const options = { limit, signal, tally: createLookupTally(), wantExtras: true };
    for await (const _ of lookUpDestination({ ...options, source: watched(), store })) break;
    expect(closed).toBe(1);
    let lists = 0;
    const failing: ObjectStore = {
      ...store,
      list: (request, call) => {
        lists += 1;
        if (lists === 3) throw new Error('the third page failed');
        return store.list(request, call);
      },
    };
    const lookup = lookUpDestination({ ...options, source: watched(), store: failing });
    const drain = async () => {
      for await (const _ of lookup);
    };
    await expect(drain()).rejects.toThrow('the third page failed');
    expect(closed).toBe(2);
  });
});

/** The number of round trips if all requests in flight together share one. */
async function roundsOf(
  store: ObjectStore,
  source: readonly string[],
  wantExtras: boolean,
  pageSize = 1_000,
): Promise<number> {
  let rounds = 0;
  let round: Promise<void> | undefined;
  const trip = () => {
    round ??= new Promise((resolve) => {
      setImmediate(() => {
        rounds += 1;
        round = undefined;
        resolve();
      });
    });
    return round;
  };
  const slow: ObjectStore = {
    ...store,
    list: (request, call) => trip().then(() => store.list(request, call)),
    head: (key, call) => trip().then(() => store.head(key, call)),
  };
  await look(slow, source, { wantExtras, pageSize });
  return rounds;
}

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
