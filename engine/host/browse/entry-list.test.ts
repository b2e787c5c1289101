import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEntryList } from './entry-list.ts';
import { createEntryRows } from './entry-rows.ts';

const { signal } = new AbortController();
const text = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'B', '1', '10'), minLength: 1, maxLength });

/** A list with these files, and a count of the names that it has read. */
function listOf(names: readonly string[]) {
  const rows = createEntryRows();
  const reads = { names: 0 };
  const list = createEntryList({
    ...rows,
    get size() {
      return rows.size;
    },
    nameOf(row) {
      reads.names += 1;
      return rows.nameOf(row);
    },
  });
  list.push(names.map((path) => ({ path, kind: 'file', sizeBytes: 1 })));
  return { list, reads };
}

describe('a search by the start of a name', () => {
  it('finds the first such row, whatever was sought and listed before', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(text(4), { minLength: 1, maxLength: 30 }),
        fc.array(
          fc.oneof(
            text(3),
            text(3).map((path) => ({ path })),
          ),
          { maxLength: 12 },
        ),
        fc.boolean(),
        async (names, steps, isDescending) => {
          const { list } = listOf(names);
          const known = new Set(names);
          for (const step of steps) {
            if (typeof step !== 'string') {
              if (!known.has(step.path)) list.push([{ ...step, kind: 'file', sizeBytes: 1 }]);
              known.add(step.path);
              continue;
            }
            const view = { isDescending };
            const { rows } = await list.rows(view, { offset: 0, limit: 100 }, signal);
            const first = rows.findIndex(({ path }) => path.toLowerCase().startsWith(step.toLowerCase()));
            const found = await list.seek(view, { startsWith: step }, signal);
            expect([step, found ?? -1]).toEqual([step, first]);
          }
        },
      ),
    );
  });

  it('reads each name once while letters are added to it', async () => {
    const { list, reads } = listOf(Array.from({ length: 5_000 }, (_, at) => `object-${10_000 + at}`));
    await list.rows({}, { offset: 0, limit: 1 }, signal);
    reads.names = 0;
    const sought = 'OBJECT-14321';
    for (let letters = 1; letters <= sought.length; letters += 1)
      await list.seek({}, { startsWith: sought.slice(0, letters) }, signal);
    expect(await list.seek({}, { startsWith: sought }, signal)).toBe(4_321);
    // The row at which each search ends is read again by the next one.
    expect(reads.names).toBe(4_321 + sought.length + 1);
  });
});
