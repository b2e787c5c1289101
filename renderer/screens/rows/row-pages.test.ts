import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import { createRowPages, PAGE_ROWS, PAGES_KEPT, type RowAnswer } from './row-pages.ts';

const TOTAL = 1_000_000;

function rowAt(index: number): ChangeRow {
  return { change: 'added', path: `${index}`, kind: 'file', sizeBytes: 1 };
}

/** Answers at once, and records the requests. */
function openPages() {
  const offsets: number[] = [];
  const pages = createRowPages(async (offset, limit) => {
    offsets.push(offset);
    return { total: TOTAL, rows: Array.from({ length: limit }, (_, at) => rowAt(offset + at)) };
  });
  const scrollTo = async (first: number, last = first + 40) => {
    pages.look(first, last);
    await vi.runAllTimersAsync();
  };
  return { offsets, pages, scrollTo };
}

describe('the pages of a list of rows', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are requested when they come into view, once while they are held', async () => {
    const { scrollTo, offsets, pages } = openPages();
    await scrollTo(0);
    expect(pages.total()).toBe(TOTAL);
    expect(pages.rowAt(7)).toEqual(rowAt(7));
    await scrollTo(PAGE_ROWS - 10);
    await scrollTo(0);
    expect(offsets).toEqual([0, PAGE_ROWS]);
  });

  it('are held up to a limit: those out of view for longest go first', async () => {
    const { scrollTo, offsets, pages } = openPages();
    for (let page = 0; page < 3 * PAGES_KEPT; page += 1) {
      await scrollTo(0);
      await scrollTo(page * PAGE_ROWS);
    }
    const held = Array.from({ length: TOTAL / PAGE_ROWS }, (_, page) => pages.rowAt(page * PAGE_ROWS));
    expect(held.filter((row) => row !== undefined)).toHaveLength(PAGES_KEPT);
    // The page in constant use is still held, and was requested once.
    expect(offsets.filter((offset) => offset === 0)).toHaveLength(1);
  });

  it('that are only scrolled past are not requested', async () => {
    const { scrollTo, offsets, pages } = openPages();
    await scrollTo(0);
    for (let row = 0; row < TOTAL - 100; row += 10_000) pages.look(row, row + 40);
    await scrollTo(TOTAL - 41);
    expect(offsets).toEqual([0, TOTAL - PAGE_ROWS]);
  });

  it('that left the view before they came are not awaited', async () => {
    const signals: AbortSignal[] = [];
    const pages = createRowPages<RowAnswer>((_offset, _limit, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    pages.look(0, 40);
    pages.look(5_000, 5_040);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it('are requested again when the list has changed, and show their old rows until then', async () => {
    let name = 'old';
    const pages = createRowPages(async () => ({ total: 2, rows: [name, name] }));
    pages.look(0, 1);
    await vi.runAllTimersAsync();
    name = 'new';
    pages.reload();
    expect(pages.rowAt(0)).toBe('old');
    await vi.runAllTimersAsync();
    expect(pages.rowAt(0)).toBe('new');
  });
});
