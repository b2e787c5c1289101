import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChangeRow } from '../../api/host/changes.ts';
import { createRowList } from './row-list.ts';

function listOf(rows: readonly ChangeRow[]) {
  const list = createRowList();
  for (const row of rows) list.push(row);
  list.end();
  return list;
}

function file(path: string, change: ChangeRow['change'] = 'added', sizeBytes = 1): ChangeRow {
  return { change, path, kind: 'file', sizeBytes };
}

/**
 * The same, computed in the simplest way: each row, and each folder above it at its first row, if all above
 * is open.
 */
function plainly(rows: readonly ChangeRow[], open: ReadonlySet<string>): ChangeRow[] {
  const shown: ChangeRow[] = [];
  const seen = new Set<string>();
  for (const row of rows) {
    let isShown = open.has('');
    for (let slash = row.path.indexOf('/'); slash >= 0; slash = row.path.indexOf('/', slash + 1)) {
      const folder = row.path.slice(0, slash + 1);
      if (isShown && !seen.has(folder)) shown.push(sumOf(rows, folder));
      seen.add(folder);
      isShown &&= open.has(folder);
    }
    if (isShown) shown.push(row);
  }
  return shown;
}

function sumOf(rows: readonly ChangeRow[], folder: string): ChangeRow {
  const below = rows.filter(({ path }) => path.startsWith(folder));
  const kinds = new Set(below.map(({ change }) => change));
  return {
    change: kinds.size === 1 ? below[0]!.change : 'modified',
    path: folder,
    kind: 'folder',
    sizeBytes: below.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    below: {
      rows: below.length,
      deleted: below.filter(({ change }) => change === 'deleted').length,
      bytes: below
        .filter(({ change }) => change === 'added' || change === 'modified')
        .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    },
  };
}

const name = fc.string({ unit: fc.constantFrom('a', 'b', '-', 'z', '\u00e9'), minLength: 1, maxLength: 2 });
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const sortedRows = fc
  .uniqueArray(fc.tuple(path, fc.constantFrom('added', 'deleted', 'modified'), fc.nat({ max: 99 })), {
    selector: ([text]) => text,
    maxLength: 60,
  })
  .map((rows) =>
    rows
      .map(([text, change, size]) => file(text, change as ChangeRow['change'], size))
      .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))),
  );

describe('changes as a tree', () => {
  it('show every open folder as a plain walk would, from any offset', () => {
    fc.assert(
      fc.property(sortedRows, fc.infiniteStream(fc.boolean()), fc.nat({ max: 30 }), (rows, coins, offset) => {
        const folders = new Set(
          rows.flatMap(({ path: text }) =>
            [...text.matchAll(/\//g)].map(({ index }) => text.slice(0, index + 1)),
          ),
        );
        const open = ['', ...[...folders].filter(() => coins.next().value)];
        const wanted = plainly(rows, new Set(open));
        const { rows: page, total } = listOf(rows).rows({ open }, offset, 12);
        expect(total).toBe(wanted.length);
        expect(page).toEqual(wanted.slice(offset, offset + 12));
      }),
    );
  });

  it('find a row or a folder by its path', () => {
    fc.assert(
      fc.property(sortedRows, path, (rows, other) => {
        const paths = rows.flatMap(({ path: text }) => [text, `${text}/`]);
        const folders = [...rows.map(({ path: text }) => text), other].map((text) => `${text.slice(0, 2)}/`);
        const wanted = [...paths, other, ...folders].map((text) =>
          text.endsWith('/')
            ? rows.some((row) => row.path.startsWith(text)) && sumOf(rows, text)
            : rows.find((row) => row.path === text),
        );
        const found = listOf(rows).find([...paths, other, ...folders]);
        expect(found).toEqual(wanted.filter(Boolean));
      }),
    );
  });

  it('say where a row is in the view, and which row it is if the view hides it', () => {
    fc.assert(
      fc.property(sortedRows, fc.infiniteStream(fc.boolean()), path, (rows, coins, other) => {
        const list = listOf(rows);
        const folders = rows.flatMap(({ path: text }) =>
          [...text.matchAll(/\//g)].map(({ index }) => text.slice(0, index + 1)),
        );
        const open = ['', ...new Set(folders)].filter(() => coins.next().value);
        const paths = [...rows.map(({ path: text }) => text), ...folders, other];
        const kinds: ChangeRow['change'][] = ['deleted'];
        for (const view of [{ open }, { open, kinds }, {}, { kinds }, { sort: 'size' } as const]) {
          const shown = list.rows(view, 0, 1_000).rows.map((row) => row.path);
          for (const text of paths) {
            const { index, row } = list.seek(view, text);
            expect([text, index ?? -1]).toEqual([text, shown.indexOf(text)]);
            expect(row).toEqual(list.find([text])[0]);
          }
        }
      }),
    );
  });

  it('contain the rows of a filter, and nothing below unknown or closed folders', () => {
    const list = listOf([file('a/b/c.txt'), file('a/d.bin', 'deleted'), file('e.txt')]);
    const paths = (open: readonly string[], more: object = {}) =>
      list.rows({ open, ...more }, 0, 10).rows.map((row) => row.path);
    expect(paths([''])).toEqual(['a/', 'e.txt']);
    expect(paths(['', 'a/b/', 'x/', 'e.txt'])).toEqual(['a/', 'e.txt']);
    expect(paths(['', 'a/'])).toEqual(['a/', 'a/b/', 'a/d.bin', 'e.txt']);
    expect(paths(['', 'a/'], { filter: '.txt', sort: 'size' })).toEqual(['a/', 'a/b/', 'e.txt']);
    expect(paths([])).toEqual([]);
  });

  it('keep a folder together even if its name sorts between its neighbours', () => {
    const list = listOf([file('a-b'), file('a/x'), file('a/y'), file('a0')]);
    expect(list.rows({ open: ['', 'a/'] }, 0, 10).rows.map((row) => row.path)).toEqual([
      'a-b',
      'a/',
      'a/x',
      'a/y',
      'a0',
    ]);
  });

  it('find levels without reading every row', () => {
    const rows = Array.from({ length: 50_000 }, (_, at) =>
      file(`${String(Math.floor(at / 5_000)).padStart(2, '0')}/${String(at).padStart(6, '0')}`),
    );
    const list = listOf(rows);
    const { rows: top, total } = list.rows({ open: [''] }, 0, 100);
    expect(total).toBe(10);
    expect(top.map(({ below }) => below?.rows)).toEqual(Array(10).fill(5_000));
    expect(list.rows({ open: ['', '09/'] }, 5_009, 5).rows.map((row) => row.path)).toEqual(['09/049999']);
  });
});
