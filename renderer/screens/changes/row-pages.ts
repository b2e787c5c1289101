/**
 * The rows of one view of a list, fetched in pages as they come into view. At most `PAGES_KEPT` pages are
 * held, the most recently seen; requests for pages that left the view are abandoned.
 */

import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import type { AnswerOf } from '../../../engine/api/host.ts';

export const PAGE_ROWS = 200;
export const PAGES_KEPT = 60;
/** Pages that are scrolled past while the thumb is dragged are not requested. */
const REST_MS = 40;

export type FetchRows = (
  offset: number,
  limit: number,
  signal: AbortSignal,
) => Promise<AnswerOf<'changes.rows'>>;

export interface RowPages {
  /** Undefined until the first page arrives. */
  readonly total: () => number | undefined;
  /** Undefined while it is not loaded. */
  readonly rowAt: (index: number) => ChangeRow | undefined;
  /** The visible rows. */
  readonly look: (first: number, last: number) => void;
  readonly error: () => unknown;
  readonly subscribe: (listener: () => void) => () => void;
  /** Grows with each change, for useSyncExternalStore. */
  readonly version: () => number;
  readonly close: () => void;
}

export function createRowPages(fetchRows: FetchRows): RowPages {
  const pages = new Map<number, readonly ChangeRow[]>();
  const underWay = new Map<number, AbortController>();
  const listeners = new Set<() => void>();
  let total: number | undefined;
  let failure: unknown;
  let version = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const tell = () => {
    version += 1;
    for (const listener of listeners) listener();
  };
  const keep = (page: number, rows: readonly ChangeRow[]) => {
    pages.delete(page);
    pages.set(page, rows);
    const [oldest] = pages.keys();
    if (pages.size > PAGES_KEPT) pages.delete(oldest!);
  };
  const fetchPage = async (page: number) => {
    const stop = new AbortController();
    underWay.set(page, stop);
    try {
      const answer = await fetchRows(page * PAGE_ROWS, PAGE_ROWS, stop.signal);
      if (stop.signal.aborted) return;
      total = answer.total;
      failure = undefined;
      keep(page, answer.rows);
    } catch (error) {
      if (stop.signal.aborted) return;
      failure = error;
    } finally {
      if (underWay.get(page) === stop) underWay.delete(page);
    }
    tell();
  };
  const fetchMissing = (from: number, to: number) => {
    for (let page = from; page <= to; page += 1) {
      const held = pages.get(page);
      if (held) keep(page, held);
      else if (!underWay.has(page)) void fetchPage(page);
    }
  };

  return {
    total: () => total,
    rowAt: (index) => pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS],
    look: (first, last) => {
      const from = Math.floor(first / PAGE_ROWS);
      const to = Math.floor(Math.max(first, last) / PAGE_ROWS);
      for (const [page, stop] of underWay) {
        if (page >= from && page <= to) continue;
        stop.abort();
        underWay.delete(page);
      }
      clearTimeout(timer);
      if (total === undefined) fetchMissing(from, to);
      else timer = setTimeout(fetchMissing, REST_MS, from, to);
    },
    error: () => failure,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    version: () => version,
    close: () => {
      clearTimeout(timer);
      for (const stop of underWay.values()) stop.abort();
      underWay.clear();
      pages.clear();
    },
  };
}
