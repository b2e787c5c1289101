import { describe, expect, it } from 'vitest';
import { createRowViews, type ViewedRows } from './row-views.ts';

const ROWS = 20_000;
const { signal } = new AbortController();

/** Files of ten folders, the largest last, that count how often they are read. */
function countedRows() {
  const reads = { texts: 0, sizes: 0 };
  const store: ViewedRows = {
    size: ROWS,
    textOf(row) {
      reads.texts += 1;
      return `Folder-${Math.floor(row / 2_000)}/${row}`;
    },
    changeOf: (row) => (row % 2 === 0 ? 'added' : 'modified'),
    sizeOf(row) {
      reads.sizes += 1;
      return row;
    },
  };
  return { store, reads };
}

describe('the views of a list of changes', () => {
  it('read for a further letter only the rows that the letters before it left', async () => {
    const { reads, store } = countedRows();
    const viewOf = createRowViews(store);
    expect(await viewOf({ filter: 'folder-7' }, signal)).toHaveLength(2_000);
    expect(reads.texts).toBe(ROWS);
    expect(await viewOf({ filter: 'FOLDER-7/1400' }, signal)).toHaveLength(10);
    expect(reads.texts).toBe(ROWS + 2_000);
    await viewOf({ filter: 'folder-7/14000' }, signal);
    expect(reads.texts).toBe(ROWS + 2_000 + 10);
  });

  it('sort by size once, whatever is searched in that order', async () => {
    const { reads, store } = countedRows();
    const viewOf = createRowViews(store);
    const largest = await viewOf({ sort: 'size' }, signal);
    expect([...largest!.subarray(0, 2)]).toEqual([ROWS - 1, ROWS - 2]);
    const { sizes } = reads;
    for (const filter of ['f', 'fo', 'fol', 'older', 'r-3', '-', '1'])
      await viewOf({ filter, sort: 'size' }, signal);
    expect([
      ...(await viewOf({ filter: '/19', sort: 'size', kinds: ['added'] }, signal))!.subarray(0, 2),
    ]).toEqual([19_998, 19_996]);
    await viewOf({ sort: 'size' }, signal);
    expect(reads.sizes).toBe(sizes);
  });

  it('read no text for a choice of kinds', async () => {
    const { reads, store } = countedRows();
    expect(await createRowViews(store)({ kinds: ['added'] }, signal)).toHaveLength(ROWS / 2);
    expect(reads.texts).toBe(0);
  });

  it('are made once for requests at the same time, and again if the request that makes one is stopped', async () => {
    const { reads, store } = countedRows();
    const viewOf = createRowViews(store);
    const wanted = { filter: 'folder-7' };
    const [one, two] = await Promise.all([viewOf(wanted, signal), viewOf({ ...wanted }, signal)]);
    expect(two).toBe(one);
    expect(reads.texts).toBe(ROWS);

    reads.texts = 0;
    const stop = new AbortController();
    let looks = 0;
    const monotonicMs = () => {
      looks += 1;
      // The fourth read of the clock is after the first 2,048 rows.
      if (looks === 4) stop.abort();
      return looks * 60;
    };
    const slow = createRowViews(store, { monotonicMs });
    const stopped = slow(wanted, stop.signal);
    const other = slow(wanted, signal);
    await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
    expect(await other).toHaveLength(2_000);
    expect(reads.texts).toBe(2_048 + ROWS);
  });
});
