import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { comparePaths } from '../model/entry.ts';
import type { TreeItem } from '../model/tree-item.ts';
import { createPairReader, openTreeIndex, sweepTreeIndexes } from './tree-index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-trees-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (pair: readonly [string, string] = ['here', 'there']) => openTreeIndex({ folder, pair }).index;
const rowsOf = (paths: readonly string[]) =>
  paths.map((path) => ({ path, tokens: [`${path}-1`, `${path}-2`] as const }));

describe('what is remembered of two places', () => {
  it('is told from either side', () => {
    const up = open(['here', 'there']);
    up.put(rowsOf(['a']));
    up.close();
    const down = open(['there', 'here']);
    expect(down.find('a')).toEqual(['a-2', 'a-1']);
    expect(down.page('')).toEqual([{ path: 'a', tokens: ['a-2', 'a-1'] }]);
    down.close();
    const other = open(['here', 'elsewhere']);
    expect(other.find('a')).toBeUndefined();
    other.close();
  });

  it('is read along a walk as a look-up of each path would tell it', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'b', '/', '\u{e000}', '\u{1f600}'),
      minLength: 1,
      maxLength: 5,
    });
    const index = open();
    try {
      fc.assert(
        fc.property(fc.uniqueArray(letters), fc.uniqueArray(letters), (known, walked) => {
          index.remove(index.page('').map(({ path }) => path));
          index.put(rowsOf(known));
          const reader = createPairReader(index);
          for (const path of walked.toSorted(comparePaths))
            expect(reader.known(path)).toEqual(index.find(path));
        }),
        { numRuns: 200, seed: 5 },
      );
    } finally {
      index.close();
    }
  });

  it('is read by pages, so 5,000 rows cost few queries', () => {
    const index = open();
    const paths = Array.from({ length: 5_000 }, (_, at) => String(at).padStart(5, '0'));
    index.put(rowsOf(paths));
    let queries = 0;
    const reader = createPairReader({
      page: (after) => {
        queries += 1;
        return index.page(after);
      },
      find: (path) => {
        queries += 1;
        return index.find(path);
      },
    });
    for (const path of paths) expect(reader.known(path)?.[0]).toBe(`${path}-1`);
    expect(queries).toBeLessThanOrEqual(15);
    index.close();
  });

  it('holds uploads under way and the sums of blocks', () => {
    const index = open();
    index.uploads.save('k', { uploadId: 'u', partSizeBytes: 8, token: 't' });
    index.uploads.save('l', { uploadId: 'v', partSizeBytes: 9 });
    expect(index.uploads.load('k')).toEqual({ uploadId: 'u', partSizeBytes: 8, token: 't' });
    index.uploads.forget('k');
    expect([index.uploads.load('k'), index.uploads.load('l')]).toEqual([
      undefined,
      { uploadId: 'v', partSizeBytes: 9 },
    ]);
    const sums = [0n, 2n ** 64n - 1n, 5n];
    index.putBlocks('k', { token: 'e', blockBytes: 16, sums });
    expect(index.blocks('k')).toEqual({ token: 'e', blockBytes: 16, sums });
    index.close();
  });

  it('that is damaged is set aside and begun anew', () => {
    open().close();
    const name = readdirSync(folder).find((each) => each.endsWith('.db'))!;
    writeFileSync(
      join(folder, name),
      'this is no database at all, but it is long enough to look like one'.repeat(50),
    );
    const { index, rebuiltBecause } = openTreeIndex({ folder, pair: ['here', 'there'] });
    expect(rebuiltBecause).toContain('not a database');
    expect(index.page('')).toEqual([]);
    index.close();
    expect(existsSync(join(folder, `${name}.damaged`))).toBe(true);
  });

  it('and not used for long is swept', () => {
    open(['a', 'b']).close();
    open(['c', 'd']).close();
    const [first] = readdirSync(folder);
    utimesSync(join(folder, first!), 1, 1);
    sweepTreeIndexes(folder, Date.now() - 1_000_000);
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

describe('lists on disk', () => {
  const item = (path: string, sizeBytes = 1): TreeItem => ({
    path,
    kind: 'object',
    sizeBytes,
    token: 't',
    modifiedMs: 2,
  });

  it('keep their order, and leave nothing behind', () => {
    const index = open();
    const list = index.spill();
    const texts = Array.from({ length: 2_500 }, (_, at) => `text ${at}`);
    list.push(texts.slice(0, 1_200));
    list.push(texts.slice(1_200));
    expect(list.size).toBe(2_500);
    expect([...list.pages()].flat()).toEqual(texts);
    index.close();
    expect(readdirSync(folder).filter((name) => name.includes('spill'))).toEqual([]);
  });

  it('are sorted by the bytes of the paths', () => {
    const index = open();
    const sorter = index.sorter();
    const paths = ['b', 'a/b', '\u{1f600}', 'a', '\u{e000}', 'a-b'];
    sorter.add(paths.map((path) => item(path)));
    sorter.add([item('b', 2)]);
    const sorted = [...sorter.pages()].flat();
    expect(sorted.map(({ path }) => path)).toEqual(paths.toSorted(comparePaths));
    expect(sorted.find(({ path }) => path === 'b')).toEqual(item('b', 2));
    index.close();
  });
});
