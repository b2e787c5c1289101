import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { mergeTrees } from './merge-trees.ts';

const itemOf = (path: string): TreeItem => ({ path, kind: 'file', sizeBytes: 1, token: 't', modifiedMs: 0 });

async function* inBatches(paths: readonly string[], sizes: readonly number[]) {
  let turn = 0;
  for (let at = 0; at < paths.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    yield paths.slice(at, at + size).map(itemOf);
    at += size;
  }
}

describe('merging two trees', () => {
  it('returns every source item with its counterpart, and the rest as extras, in order', async () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[ab/\u00e9]{1,4}$/), { maxLength: 60 });
    // Batches can be empty, but not all of them.
    const sizes = fc
      .array(fc.integer({ min: 0, max: 9 }), { minLength: 1 })
      .filter((each) => each.some(Boolean));
    await fc.assert(
      fc.asyncProperty(names, names, sizes, sizes, async (left, right, leftSizes, rightSizes) => {
        const source = left.toSorted(comparePaths);
        const destination = right.toSorted(comparePaths);
        const pairs: (readonly [string, string | undefined])[] = [];
        const extras: string[] = [];
        const merged = mergeTrees(inBatches(source, leftSizes), inBatches(destination, rightSizes));
        for await (const batch of merged) {
          expect(batch.pairs.length + batch.extras.length).toBeGreaterThan(0);
          pairs.push(...batch.pairs.map((pair) => [pair.source.path, pair.destination?.path] as const));
          extras.push(...batch.extras.map(({ path }) => path));
        }
        const there = new Set(destination);
        const wanted = new Set(source);
        expect(pairs).toEqual(source.map((path) => [path, there.has(path) ? path : undefined]));
        expect(extras).toEqual(destination.filter((path) => !wanted.has(path)));
      }),
      { numRuns: 300, seed: 5 },
    );
  });

  it('closes both when the consumer stops early, and when one of them fails', async () => {
    const closed: string[] = [];
    async function* endless(name: string, failsAt = Number.POSITIVE_INFINITY) {
      try {
        for (let at = 0; ; at += 1) {
          if (at === failsAt) throw new Error(`${name} failed`);
          yield [itemOf(String(at).padStart(9, '0'))];
        }
      } finally {
        closed.push(name);
      }
    }
    for await (const _ of mergeTrees(endless('source'), endless('destination'))) break;
    expect(closed.toSorted()).toEqual(['destination', 'source']);
    closed.length = 0;
    const failing = mergeTrees(endless('source'), endless('destination', 3));
    const drain = async () => {
      for await (const _ of failing);
    };
    await expect(drain()).rejects.toThrow('destination failed');
    expect(closed.toSorted()).toEqual(['destination', 'source']);
  });
});
