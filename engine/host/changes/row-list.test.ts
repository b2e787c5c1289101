import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChangeRow, ChangeView } from '../../api/host/changes.ts';
import { createRowList } from './row-list.ts';

function listOf(rows: readonly ChangeRow[]) {
  const list = createRowList();
  for (const row of rows) list.push(row);
  list.end();
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
const anyRows = fc.uniqueArray(row, { selector: ({ path }) => path, maxLength: 60 });
const sortedRows = anyRows.map((rows) => plainly(rows, {}));

describe('a list of changes', () => {
  it('gives every view like a plain filter and sort', () => {
    fc.assert(
      fc.property(
        fc.oneof(sortedRows, anyRows),
        fc.string({ unit: fc.constantFrom('a', 'b', 'C', '/', '\u00e9'), maxLength: 3 }),
        fc.option(fc.subarray(['added', 'modified', 'renamed', 'conflict'] as const), { nil: undefined }),
        fc.constantFrom('path', 'size'),
        fc.nat({ max: 20 }),
        (rows, filter, kinds, sort, offset) => {
          const view = { filter, sort, ...(kinds ? { kinds } : {}) } as ChangeView;
          const wanted = plainly(rows, view);
          const { rows: page, total } = listOf(rows).rows(view, offset, 10);
          expect(total).toBe(wanted.length);
          expect(page).toEqual(wanted.slice(offset, offset + 10));
        },
      ),
    );
  });

  it('sorts rows that arrived out of order by path', () => {
    const rows = ['b', 'a', 'c'].map(
      (name): ChangeRow => ({ change: 'added', path: name, kind: 'file', sizeBytes: 1 }),
    );
    const page = listOf(rows).rows({}, 0, 10);
    expect(page.rows.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
  });

  it('finds no match that would begin in one path and end in the next', () => {
    const rows = ['one', 'two'].map(
      (name): ChangeRow => ({ change: 'added', path: name, kind: 'file', sizeBytes: 1 }),
    );
    expect(listOf(rows).rows({ filter: 'et' }, 0, 10).total).toBe(0);
  });
});
