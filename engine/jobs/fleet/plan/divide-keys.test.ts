/** Ranges of keys, found by samples: over key spaces of many shapes, in memory. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../../base/long-it.fixture.ts';
import { runBudget } from '../../../base/run-budget.fixture.ts';
import { comparePaths } from '../../../model/entry.ts';
import { divideKeys, type ReadKeys } from './divide-keys.ts';
import { keyBetween } from './key-between.ts';

function storeOf(keys: readonly string[]) {
  const sorted = keys.toSorted(comparePaths);
  const asked = { pages: 0 };
  const read: ReadKeys = async (after) => {
    asked.pages += 1;
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (after !== undefined && comparePaths(sorted[middle]!, after) <= 0) low = middle + 1;
      else high = middle;
    }
    return { keys: sorted.slice(low, low + 1_000), isLast: low + 1_000 >= sorted.length };
  };
  return { read, asked, sorted };
}

function rangeSizes(sorted: readonly string[], splits: readonly string[]): readonly number[] {
  const sizes = Array.from({ length: splits.length + 1 }, () => 0);
  let range = 0;
  for (const key of sorted) {
    while (range < splits.length && comparePaths(key, splits[range]!) > 0) range += 1;
    sizes[range]! += 1;
  }
  return sizes;
}

const number = (value: number, digits = 7) => String(value).padStart(digits, '0');
const hex = (value: number) => ((value * 2_654_435_761) >>> 0).toString(16).padStart(8, '0');

const SHAPES: Readonly<Record<string, (at: number) => string>> = {
  'numbers under a long common beginning': (at) => `a/rather/long/way/to/the/numbers-${number(at)}.bin`,
  'hashes in two levels': (at) => `${hex(at).slice(0, 2)}/${hex(at)}`,
  days: (at) => `logs/year=20${10 + (at % 13)}/month=${number(at % 12, 2)}/part-${number(at)}`,
  'one folder with nearly all': (at) => (at % 100 === 0 ? `z${at}/x` : `most/${number(at)}`),
  'few names alone at the end': (at) => (at < 5 ? `zzz${at}` : `a-${number(at)}`),
  'names beyond ASCII': (at) => `写真/${String.fromCodePoint(0x4e00 + (at % 5_000))}/${number(at)}`,
  'names beside the usual characters': (at) => `${String.fromCodePoint(1 + (at % 30))}${number(at)}`,
};

/** Read for 16 ranges of 400,000 keys; a full listing has 400. */
const PAGES: Readonly<Record<string, number>> = {
  'numbers under a long common beginning': 105,
  'hashes in two levels': 99,
  days: 260,
  'one folder with nearly all': 75,
  'few names alone at the end': 111,
  'names beyond ASCII': 86,
  'names beside the usual characters': 213,
};

describe('The ranges of a store', () => {
  it.each(Object.keys(SHAPES).slice(0, runBudget({ short: 2, long: Object.keys(SHAPES).length })))(
    'have at most four times their share for %s, for the pinned number of requests',
    async (shape) => {
      const count = 400_000;
      const store = storeOf(Array.from({ length: count }, (_, at) => SHAPES[shape]!(at)));
      const found = await divideKeys({ stores: [store.read], rangesWanted: 16, keysInRangeMin: 10_000 });
      const sizes = rangeSizes(store.sorted, found.splits);
      expect(sizes.length).toBeGreaterThanOrEqual(8);
      expect(Math.max(...sizes)).toBeLessThan((count / 16) * 4);
      expect(store.asked.pages).toBe(PAGES[shape]);
    },
  );

  it('is one range for few keys, for one request', async () => {
    const store = storeOf(Array.from({ length: 900 }, (_, at) => number(at)));
    const found = await divideKeys({ stores: [store.read], rangesWanted: 64, keysInRangeMin: 100_000 });
    expect(found).toEqual({ splits: [], estimatedKeys: 900 });
    expect(store.asked.pages).toBe(1);
  });

  it('is one range for few parts, for fewer requests than a listing has', async () => {
    const store = storeOf(
      Array.from({ length: 40_000 }, (_, at) => `${number(Math.floor(at / 500), 5)}/${at}.bin`),
    );
    const found = await divideKeys({ stores: [store.read], rangesWanted: 64, keysInRangeMin: 100_000 });
    expect(found.splits).toEqual([]);
    expect(store.asked.pages).toBe(22);
  });

  it('are as many as wanted where each page of the listing is one folder', async () => {
    const store = storeOf(
      Array.from(
        { length: 200_000 },
        (_, at) => `${number(Math.floor(at / 1_000))}/${number(at % 1_000, 4)}`,
      ),
    );
    const found = await divideKeys({ stores: [store.read], rangesWanted: 64, keysInRangeMin: 10_000 });
    expect([found.splits.length + 1, found.estimatedKeys, store.asked.pages]).toEqual([20, 200_200, 92]);
  });

  it('asks an empty store once', async () => {
    const store = storeOf([]);
    const found = await divideKeys({ stores: [store.read], rangesWanted: 64, keysInRangeMin: 1 });
    expect([found, store.asked.pages]).toEqual([{ splits: [], estimatedKeys: 0 }, 1]);
  });

  it('follow what only the second store has', async () => {
    const source = storeOf(Array.from({ length: 2_000 }, (_, at) => `a/${number(at)}`));
    const destination = storeOf(Array.from({ length: 100_000 }, (_, at) => `b/${number(at)}`));
    const stores = [source.read, destination.read];
    const found = await divideKeys({ stores, rangesWanted: 8, keysInRangeMin: 5_000 });
    const sizes = rangeSizes([...source.sorted, ...destination.sorted], found.splits);
    expect(Math.max(...sizes)).toBeLessThan(50_000);
  });

  longIt('end for any keys, with splits in ascending order', async () => {
    const keys = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }), {
      maxLength: 300,
    });
    await fc.assert(
      fc.asyncProperty(keys, fc.integer({ min: 1, max: 20 }), async (all, wanted) => {
        const few = all.filter((key) => key.isWellFormed());
        // Ten times as many keys as a page shows.
        const store = storeOf(few.flatMap((key) => Array.from({ length: 40 }, (_, at) => `${key}${at}`)));
        const { splits } = await divideKeys({
          stores: [store.read],
          rangesWanted: wanted,
          keysInRangeMin: 1,
        });
        expect(splits.length).toBeLessThan(wanted);
        for (let at = 1; at < splits.length; at += 1)
          expect(comparePaths(splits[at - 1]!, splits[at]!)).toBeLessThan(0);
        expect(store.asked.pages).toBeLessThan(600);
      }),
      { numRuns: 60 },
    );
  });
});

describe('A key between two others', () => {
  it('lies between them, or there is none', () => {
    const key = fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(key, key, (one, other) => {
        const [low, high] = [one, other].sort(comparePaths) as [string, string];
        const middle = keyBetween(low, high);
        if (middle === undefined) return;
        expect(comparePaths(low, middle)).toBeLessThan(0);
        expect(comparePaths(middle, high)).toBeLessThan(0);
        expect(middle.isWellFormed()).toBe(true);
      }),
    );
  });

  it.each([
    ['a', 'z'],
    ['photos/1', 'photos/2'],
    ['photos', undefined],
    ['a', 'a5'],
    ['~', undefined],
    ['', 'a'],
  ])('is found between %j and %j', (low, high) => {
    expect(keyBetween(low, high)).toBeDefined();
  });
});
