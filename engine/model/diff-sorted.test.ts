import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Difference, diffSorted, diffSortedBatches } from './diff-sorted.ts';
import { comparePaths } from './entry.ts';

interface Item {
  readonly path: string;
  readonly value: number;
}

const isSame = (left: Item, right: Item) => left.value === right.value;

const items = fc
  .uniqueArray(
    fc.record({
      path: fc.array(fc.constantFrom('a', 'b', '-', '/', '0', '\uff41', '\u{1f600}'), {
        minLength: 1,
        maxLength: 4,
      }),
      value: fc.integer({ min: 0, max: 2 }),
    }),
    { selector: ({ path }) => path.join(''), maxLength: 40 },
  )
  .map((list) =>
    list
      .map(({ path, value }): Item => ({ path: path.join(''), value }))
      .sort((one, other) => comparePaths(one.path, other.path)),
  );

/** The expected result, by two maps and a sort. */
function diffPlainly(left: readonly Item[], right: readonly Item[]): Difference<Item, Item>[] {
  const lefts = new Map(left.map((item) => [item.path, item]));
  const rights = new Map(right.map((item) => [item.path, item]));
  return [...new Set([...lefts.keys(), ...rights.keys()])]
    .sort(comparePaths)
    .map((path) => ({ path, left: lefts.get(path), right: rights.get(path) }))
    .filter((pair) => pair.left?.value !== pair.right?.value);
}

/** Cuts a list into batches of the given sizes, repeatedly; 0 makes an empty batch. */
function cut(list: readonly Item[], sizes: readonly number[]): Item[][] {
  const batches: Item[][] = [];
  for (let at = 0, turn = 0; at < list.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    batches.push(list.slice(at, at + size));
    at += size;
  }
  return batches;
}

async function* slowly<T>(batches: readonly T[]): AsyncGenerator<T> {
  for (const batch of batches) {
    await Promise.resolve();
    yield batch;
  }
}

async function collect<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) {
    expect(batch.length).toBeGreaterThan(0);
    all.push(...batch);
  }
  return all;
}

describe('a diff of sorted lists', () => {
  it('finds in order what a comparison of both whole lists finds', () => {
    fc.assert(
      fc.property(items, items, (left, right) => {
        expect([...diffSorted(left, right, isSame)]).toEqual(diffPlainly(left, right));
      }),
    );
  });

  it('of a list with itself is empty, and swapping the sides swaps the result', () => {
    fc.assert(
      fc.property(items, items, (left, right) => {
        expect([...diffSorted(left, left, isSame)]).toEqual([]);
        const turned = [...diffSorted(right, left, isSame)].map((pair) => ({
          path: pair.path,
          left: pair.right,
          right: pair.left,
        }));
        expect(turned).toEqual([...diffSorted(left, right, isSame)]);
      }),
    );
  });

  it('is the same over batches of any sizes, synchronous or asynchronous', async () => {
    const sizes = fc
      .array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 })
      .filter((list) => list.some((size) => size > 0));
    await fc.assert(
      fc.asyncProperty(items, items, sizes, sizes, async (left, right, leftSizes, rightSizes) => {
        const lefts = cut(left, leftSizes);
        const rights = cut(right, rightSizes);
        const expected = diffPlainly(left, right);
        expect(await collect(diffSortedBatches(lefts, slowly(rights), isSame))).toEqual(expected);
        expect(await collect(diffSortedBatches(slowly(lefts), rights, isSame))).toEqual(expected);
      }),
    );
  });

  it('closes both sides when its reader stops half-way', async () => {
    const closed: string[] = [];
    function* source(name: string) {
      try {
        for (let at = 0; ; at += 1) yield { path: `${name}${String(at).padStart(4, '0')}`, value: at };
      } finally {
        closed.push(name);
      }
    }
    function* batches(name: string) {
      try {
        for (const item of source(name)) yield [item];
      } finally {
        closed.push(`batches of ${name}`);
      }
    }
    for (const _ of diffSorted(source('a'), source('b'), isSame)) break;
    expect(closed.sort()).toEqual(['a', 'b']);
    for await (const _ of diffSortedBatches(batches('c'), batches('d'), isSame)) break;
    expect(closed.sort()).toEqual(['a', 'b', 'batches of c', 'batches of d', 'c', 'd']);
  });

  it('passes on the error of a side', async () => {
    async function* failing(): AsyncGenerator<Item[]> {
      yield [{ path: 'a', value: 1 }];
      throw new Error('went away');
    }
    await expect(collect(diffSortedBatches(failing(), [[{ path: 'b', value: 1 }]], isSame))).rejects.toThrow(
      'went away',
    );
  });
});
