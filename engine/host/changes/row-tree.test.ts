import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChangeRow } from '../../api/host/changes.ts';
import { createRowList } from './row-list.ts';

const { signal } = new AbortController();

async function listOf(rows: readonly ChangeRow[]) {
  const list = createRowList();
  for (const row of rows) list.push(row);
  await list.end(signal);
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
  it('show every open folder as a plain walk would, from any offset', async () => {
    await fc.assert(
      fc.asyncProperty(
        sortedRows,
        fc.infiniteStream(fc.boolean()),
        fc.nat({ max: 30 }),
        async (rows, coins, offset) => {
          const folders = new Set(
            rows.flatMap(({ path: text }) =>
              [...text.matchAll(/\//g)].map(({ index }) => text.slice(0, index + 1)),
            ),
          );
          const open = ['', ...[...folders].filter(() => coins.next().value)];
          const wanted = plainly(rows, new Set(open));
          const { rows: page, total } = await (await listOf(rows)).rows(
            { open },
            { offset, limit: 12 },
            signal,
          );
          expect(total).toBe(wanted.length);
          expect(page).toEqual(wanted.slice(offset, offset + 12));
        },
      ),
    );
  });

  it('find a row or a folder by its path', async () => {
    await fc.assert(
      fc.asyncProperty(sortedRows, path, async (rows, other) => {
        const paths = rows.flatMap(({ path: text }) => [text, `${text}/`]);
        const folders = [...rows.map(({ path: text }) => text), other].map((text) => `${text.slice(0, 2)}/`);
        const wanted = [...paths, other, ...folders].map((text) =>
          text.endsWith('/')
            ? rows.some((row) => row.path.startsWith(text)) && sumOf(rows, text)
            : rows.find((row) => row.path === text),
        );
        const found = (await listOf(rows)).find([...paths, other, ...folders]);
        expect(found).toEqual(wanted.filter(Boolean));
      }),
    );
  });

  it('say where a row is in the view, and which row it is if the view hides it', async () => {
    await fc.assert(
      fc.asyncProperty(sortedRows, fc.infiniteStream(fc.boolean()), path, async (rows, coins, other) => {
        const list = await listOf(rows);
        const folders = rows.flatMap(({ path: text }) =>
          [...text.matchAll(/\//g)].map(({ index }) => text.slice(0, index + 1)),
        );
        const open = ['', ...new Set(folders)].filter(() => coins.next().value);
        const paths = [...rows.map(({ path: text }) => text), ...folders, other];
        const kinds: ChangeRow['change'][] = ['deleted'];
        for (const view of [{ open }, { open, kinds }, {}, { kinds }, { sort: 'size' } as const]) {
          const shown = (await list.rows(view, { offset: 0, limit: 1_000 }, signal)).rows.map(
            (row) => row.path,
          );
          for (const text of paths) {
            const { index, row } = await list.seek(view, text, signal);
            expect([text, index ?? -1]).toEqual([text, shown.indexOf(text)]);
            expect(row).toEqual(list.find([text])[0]);
          }
        }
      }),
    );
  });

  it('contain the rows of a filter, and nothing below unknown or closed folders', async () => {
    const list = await listOf([file('a/b/c.txt'), file('a/d.bin', 'deleted'), file('e.txt')]);
    const paths = async (open: readonly string[], more: object = {}) =>
      (await list.rows({ open, ...more }, { offset: 0, limit: 10 }, signal)).rows.map((row) => row.path);
    expect(await paths([''])).toEqual(['a/', 'e.txt']);
    expect(await paths(['', 'a/b/', 'x/', 'e.txt'])).toEqual(['a/', 'e.txt']);
    expect(await paths(['', 'a/'])).toEqual(['a/', 'a/b/', 'a/d.bin', 'e.txt']);
    expect(await paths(['', 'a/'], { filter: '.txt', sort: 'size' })).toEqual(['a/', 'a/b/', 'e.txt']);
    expect(await paths([])).toEqual([]);
  });

  it('keep a folder together even if its name sorts between its neighbours', async () => {
    const list = await listOf([file('a-b'), file('a/x'), file('a/y'), file('a0')]);
    const { rows } = await list.rows({ open: ['', 'a/'] }, { offset: 0, limit: 10 }, signal);
    expect(rows.map((row) => row.path)).toEqual(['a-b', 'a/', 'a/x', 'a/y', 'a0']);
  });

  it('find levels without reading every row', async () => {
    const rows = Array.from({ length: 50_000 }, (_, at) =>
      file(`${String(Math.floor(at / 5_000)).padStart(2, '0')}/${String(at).padStart(6, '0')}`),
    );
    const list = await listOf(rows);
    const { rows: top, total } = await list.rows({ open: [''] }, { offset: 0, limit: 100 }, signal);
    expect(total).toBe(10);
    expect(top.map(({ below }) => below?.rows)).toEqual(Array(10).fill(5_000));
    const last = await list.rows({ open: ['', '09/'] }, { offset: 5_009, limit: 5 }, signal);
    expect(last.rows.map((row) => row.path)).toEqual(['09/049999']);
  });
});
