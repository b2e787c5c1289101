import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { comparePaths } from '../model/entry.ts';
import type { TreeItem } from '../model/tree-item.ts';
import { createPairReader, type KnownPair } from './known-pairs.ts';
import { sweepTreeIndexes } from './sweep-tree-indexes.ts';
import { openTreeIndex } from './tree-index.ts';
import { TREE_MIGRATIONS } from './tree-migrations.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-trees-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (pair: readonly [string, string] = ['here', 'there']) => openTreeIndex({ folder, pair }).index;
const rowsOf = (paths: readonly string[], proof: KnownPair['proof'] = 'content'): readonly KnownPair[] =>
  paths.map((path) => ({ path, tokens: [`${path}-1`, `${path}-2`], proof }));
const numbered = (count: number) => Array.from({ length: count }, (_, at) => String(at).padStart(7, '0'));

describe('the memory of two places', () => {
  it('is readable from either side', () => {
    const up = open(['here', 'there']);
    up.put(rowsOf(['a']));
    up.close();
    const down = open(['there', 'here']);
    const seen = { path: 'a', tokens: ['a-2', 'a-1'], proof: 'content' };
    expect(down.find('a')).toEqual(seen);
    expect(down.page('')).toEqual([seen]);
    down.put([{ path: 'a', tokens: ['new-2', 'a-1'], proof: 'content' }]);
    expect(down.find('a')?.tokens).toEqual(['new-2', 'a-1']);
    down.close();
    const other = open(['here', 'elsewhere']);
    expect(other.find('a')).toBeUndefined();
    other.close();
  });

  it('by content survives a later proof by time, and holds for those two states only', () => {
    const index = open();
    const proofOf = () => index.find('a')?.proof;
    index.put(rowsOf(['a'], 'time'));
    expect(proofOf()).toBe('time');
    index.put(rowsOf(['a'], 'content'));
    index.put(rowsOf(['a'], 'time'));
    expect(proofOf()).toBe('content');
    index.put([{ path: 'a', tokens: ['a-1', 'changed'], proof: 'time' }]);
    expect(proofOf()).toBe('time');
    index.put(rowsOf(['a'], 'contentAlone'));
    expect(proofOf(), 'of other tokens').toBe('contentAlone');
    index.put(rowsOf(['a'], 'time'));
    expect(proofOf(), 'both proofs are combined').toBe('content');
    index.close();
  });

  it('gives a walk the same answers as a lookup of each path', () => {
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
          // Twice: a restarted walk gets the same answers.
          for (const _ of [1, 2])
            for (const path of walked.toSorted(comparePaths))
              expect(reader.known(path)).toEqual(index.find(path));
        }),
        { numRuns: 200, seed: 5 },
      );
    } finally {
      index.close();
    }
  });

  it('is read in long pages for a dense walk and in short pages for a sparse one', () => {
    const index = open();
    const paths = numbered(20_000);
    index.put(rowsOf(paths));
    const count = (walked: readonly string[]) => {
      const counts = { queries: 0, rows: 0 };
      const reader = createPairReader({
        page: (after, rowsMax) => {
          const rows = index.page(after, rowsMax);
          counts.queries += 1;
          counts.rows += rows.length;
          return rows;
        },
        find: (path) => {
          counts.queries += 1;
          return index.find(path);
        },
      });
      for (const path of walked) expect(reader.known(path)?.tokens[0]).toBe(`${path}-1`);
      return counts;
    };
    expect(count(paths).queries).toBeLessThanOrEqual(50);
    const sparse = count(paths.filter((_, at) => at % 200 === 0));
    expect(sparse.queries).toBeLessThanOrEqual(200);
    expect(sparse.rows).toBeLessThanOrEqual(100 * 16 + 2 * 256);
    index.close();
  });

  it('holds unfinished uploads and the sums of blocks', () => {
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
    index.remove(['k']);
    expect(index.blocks('k')).toBeUndefined();
    index.close();
  });

  it('holds the times of objects by side, while etag and upload time stay the same', () => {
    const state = { path: 'a', token: 'etag', modifiedMs: 1_000.5 };
    const mtimeNs = 1_700_000_000_123_456_789n;
    const index = open(['one', 'two']);
    index.putObjectTimes('destination', [{ ...state, mtimeNs }]);
    index.putObjectTimes('source', [{ ...state, mtimeNs: undefined }]);
    index.close();
    const turned = open(['two', 'one']);
    expect(turned.objectTime('source', state)).toEqual({ mtimeNs });
    expect(turned.objectTime('destination', state)).toEqual({ mtimeNs: undefined });
    expect(turned.objectTime('source', { ...state, token: 'other' })).toBeUndefined();
    expect(turned.objectTime('source', { ...state, modifiedMs: 1_001 })).toBeUndefined();
    turned.remove(['a']);
    expect(turned.objectTime('source', state)).toBeUndefined();
    turned.close();
  });

  it('that is damaged is set aside and replaced', () => {
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

  it('found damaged during a run fails with the reason, and the next opening replaces it', () => {
    const { index } = openTreeIndex({ folder, pair: ['here', 'there'] });
    index.put(rowsOf(numbered(20_000)));
    index.close();
    const path = join(folder, readdirSync(folder).find((each) => each.endsWith('.db'))!);
    const bytes = readFileSync(path);
    // Damages leaf pages with rows (type 10); opening reads only the first page (SQLite file format, 1.6).
    for (let page = 4096 * Math.floor(bytes.length / 8192); page < bytes.length; page += 4096)
      if (bytes[page] === 10) bytes.fill(7, page, page + 4096);
    writeFileSync(path, bytes);
    const damaged = openTreeIndex({ folder, pair: ['here', 'there'] });
    expect(damaged.rebuiltBecause).toBeUndefined();
    expect(() => {
      for (const each of numbered(20_000)) damaged.index.find(each);
    }).toThrow(expect.objectContaining({ code: 'damaged' }));
    damaged.index.close();
    expect(existsSync(`${path}.damaged`)).toBe(true);
    const again = openTreeIndex({ folder, pair: ['here', 'there'] });
    expect(again.index.page('')).toEqual([]);
    again.index.close();
  });

  it.each(TREE_MIGRATIONS.map((_, at) => at))('is migrated from version %i', (version) => {
    open().close();
    const path = join(folder, readdirSync(folder).find((each) => each.endsWith('.db'))!);
    rmSync(path);
    const old = new Database(path);
    for (const step of TREE_MIGRATIONS.slice(0, version)) old.exec(step);
    if (version > 0) old.exec("INSERT INTO pair (path, one, other) VALUES ('old', '1', '2')");
    old.pragma(`user_version = ${version}`);
    old.close();
    const index = open();
    const kept = { path: 'old', tokens: ['1', '2'], proof: 'time' };
    expect(index.page('')).toEqual(version > 0 ? [kept] : []);
    index.close();
  });

  it.each([
    ['a folder that cannot be created', (path: string) => join(path, 'file', 'below')],
    ['a file in place of the folder', (path: string) => join(path, 'file')],
  ])('lasts only for this run with %s', (_, folderIn) => {
    writeFileSync(join(folder, 'file'), '');
    const opened = openTreeIndex({ folder: folderIn(folder), pair: ['here', 'there'] });
    expect(opened.temporaryBecause).toContain('file');
    const { index } = opened;
    index.put(rowsOf(['a']));
    expect(index.find('a')?.proof).toBe('content');
    const list = index.spill();
    list.push(['x']);
    expect([...list.pages()]).toEqual([['x']]);
    index.close();
  });

  it('by a newer Dray is not changed, and a temporary one is used for this run', () => {
    open().close();
    const path = join(folder, readdirSync(folder).find((each) => each.endsWith('.db'))!);
    const newer = new Database(path);
    newer.pragma('user_version = 99');
    newer.close();
    const { index, temporaryBecause } = openTreeIndex({ folder, pair: ['here', 'there'] });
    expect(temporaryBecause).toContain('schema 99');
    index.close();
  });

  it('can be written by two processes at once', () => {
    const one = open();
    const other = open();
    one.put(rowsOf(['a']));
    other.put(rowsOf(['b']));
    one.put(rowsOf(['c']));
    expect(other.page('').map(({ path }) => path)).toEqual(['a', 'b', 'c']);
    other.close();
    one.close();
  });

  it('that was unused for long is deleted, as are the files of killed runs and damaged indexes', () => {
    open(['a', 'b']).close();
    open(['c', 'd']).close();
    const [first] = readdirSync(folder);
    const old = [first!, `${first}-wal`, `${'0'.repeat(32)}.db.damaged`, '.spill-killed.db'];
    const others = ['notes.txt', '.spill-running.db'];
    for (const name of [...old.slice(1), ...others]) writeFileSync(join(folder, name), '');
    for (const name of [...old, 'notes.txt']) utimesSync(join(folder, name), 1, 1);
    const before = readdirSync(folder);
    sweepTreeIndexes(folder, Date.now() - 1_000_000);
    expect(readdirSync(folder)).toEqual(before.filter((name) => !old.includes(name)));
    sweepTreeIndexes(join(folder, 'absent'), Date.now());
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

  it('keep their order and leave no file behind', () => {
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
