import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChangeRow, ChangeView } from '../../api/host/changes.ts';
import { createRowList } from './row-list.ts';

const { signal } = new AbortController();

async function listOf(rows: readonly ChangeRow[]) {
  const list = createRowList();
  for (const row of rows) list.push(row);
  await list.end(signal);
  return list;
}

/** The same, computed in the simplest way. */
function plainly(rows: readonly ChangeRow[], { filter = '', kinds, sort }: ChangeView): ChangeRow[] {
  const has = (text = '') => text.toLowerCase().includes(filter.toLowerCase());
  const chosen = rows
    .filter(({ fromPath, path }) => filter === '' || has(path) || has(fromPath))
    .filter(({ change }) => !kinds || kinds.includes(change));
  const byPath = chosen.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  return sort === 'size' ? byPath.sort((a, b) => b.sizeBytes - a.sizeBytes) : byPath;
}

const path = fc.string({
  unit: fc.constantFrom('a', 'B', 'c', '/', '\u00e9', '\u00c9', '\u{1f600}'),
  minLength: 1,
});
const row: fc.Arbitrary<ChangeRow> = fc
  .record({
    change: fc.constantFrom('added', 'modified', 'deleted', 'renamed', 'mode', 'conflict'),
    path,
    fromPath: path,
    kind: fc.constantFrom('file', 'link', 'folder'),
    sizeBytes: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    oldSizeBytes: fc.nat(),
  })
  .map(({ fromPath, oldSizeBytes, ...rest }) => ({
    ...rest,
    ...(rest.change === 'renamed' ? { fromPath } : {}),
    ...(rest.change === 'modified' ? { oldSizeBytes } : {}),
  })) as fc.Arbitrary<ChangeRow>;
const view: fc.Arbitrary<ChangeView> = fc
  .record({
    filter: fc.string({ unit: fc.constantFrom('a', 'b', 'C', '/', '\u00e9'), maxLength: 3 }),
    kinds: fc.option(fc.subarray(['added', 'modified', 'renamed', 'conflict'] as const), { nil: undefined }),
    sort: fc.constantFrom('path', 'size'),
  })
  .map(({ kinds, ...rest }) => ({ ...rest, ...(kinds ? { kinds } : {}) }));
const anyRows = fc.uniqueArray(row, { selector: ({ path }) => path, maxLength: 60 });
const sortedRows = anyRows.map((rows) => plainly(rows, {}));

describe('a list of changes', () => {
  it('gives every view like a plain filter and sort', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(sortedRows, anyRows),
        fc.array(view, { minLength: 1, maxLength: 8 }),
        fc.nat({ max: 20 }),
        async (rows, views, offset) => {
          const list = await listOf(rows);
          // Each view may start from rows that the list kept for an earlier one.
          for (const view of views) {
            const wanted = plainly(rows, view);
            const { rows: page, total } = await list.rows(view, { offset, limit: 10 }, signal);
            expect(total).toBe(wanted.length);
            expect(page).toEqual(wanted.slice(offset, offset + 10));
          }
        },
      ),
    );
  });

  it('sorts rows that arrived out of order by path', async () => {
    const rows = ['b', 'a', 'c'].map(
      (name): ChangeRow => ({ change: 'added', path: name, kind: 'file', sizeBytes: 1 }),
    );
    const page = await (await listOf(rows)).rows({}, { offset: 0, limit: 10 }, signal);
    expect(page.rows.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
  });

  it('finds no match that would begin in one path and end in the next', async () => {
    const rows = ['one', 'two'].map(
      (name): ChangeRow => ({ change: 'added', path: name, kind: 'file', sizeBytes: 1 }),
    );
    const list = await listOf(rows);
    expect((await list.rows({ filter: 'et' }, { offset: 0, limit: 10 }, signal)).total).toBe(0);
  });
});
