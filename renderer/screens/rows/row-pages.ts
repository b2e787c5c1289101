/**
 * The rows of one view of a list, fetched in pages as they scroll into view. Keeps the `PAGES_KEPT` most
 * recently visible pages, and aborts requests for pages that left the view.
 */
import { createListeners } from '../../host/listeners.ts';

export const PAGE_ROWS = 200;
export const PAGES_KEPT = 60;
/** The delay before a request, so a drag of the thumb does not request each page that it passes. */
const REST_MS = 40;

/** The engine's answer for one page; `total` counts the rows of the view. */
export interface RowAnswer {
  readonly total: number;
  readonly rows: readonly unknown[];
}

export type FetchRows<Answer> = (offset: number, limit: number, signal: AbortSignal) => Promise<Answer>;

export interface RowPages<Answer extends RowAnswer> {
  /** Undefined until the first page arrives. */
  readonly total: () => number | undefined;
  /** The newest answer. */
  readonly latest: () => Answer | undefined;
  /** Undefined while the row is not loaded. */
  readonly rowAt: (index: number) => Answer['rows'][number] | undefined;
  /** The visible rows. */
  readonly look: (first: number, last: number) => void;
  /** Fetches the visible pages of a changed list again. The old rows stay until the new ones arrive. */
  readonly reload: () => void;
  readonly error: () => unknown;
  readonly subscribe: (listener: () => void) => () => void;
  /** Increases with each change, for useSyncExternalStore. */
  readonly version: () => number;
  /** Aborts all requests. Loaded rows can still be read. */
  readonly close: () => void;
}

export function createRowPages<Answer extends RowAnswer>(fetchRows: FetchRows<Answer>): RowPages<Answer> {
  const pages = new Map<number, Answer['rows']>();
  /** Held pages from before the list changed. */
  const stale = new Set<number>();
  let seen: readonly [number, number] = [0, 0];
  const underWay = new Map<number, AbortController>();
  const { subscribe, increase, version } = createVersion();
  let latest: Answer | undefined;
  let failure: unknown;
  /** The number of changes of the list. */
  let changes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const keep = (page: number, rows: Answer['rows']) => {
    pages.delete(page);
    pages.set(page, rows);
    const [oldest] = pages.keys();
    if (pages.size > PAGES_KEPT) pages.delete(oldest!);
  };
  const abandon = (isSeen: (page: number) => boolean = () => false) => {
    for (const [page, stop] of underWay) {
      if (isSeen(page)) continue;
      stop.abort();
      underWay.delete(page);
    }
  };
  const fetchPage = async (page: number) => {
    const stop = new AbortController();
    const began = changes;
    underWay.set(page, stop);
    try {
      const answer = await fetchRows(page * PAGE_ROWS, PAGE_ROWS, stop.signal);
      if (stop.signal.aborted) return;
      latest = answer;
      failure = undefined;
      if (began === changes) stale.delete(page);
      else stale.add(page);
      keep(page, answer.rows);
    } catch (error) {
      if (stop.signal.aborted) return;
      failure = error;
    } finally {
      if (underWay.get(page) === stop) underWay.delete(page);
    }
    increase();
    if (began !== changes) fetchMissing(...seen);
  };
  const fetchMissing = (from: number, to: number) => {
    for (let page = from; page <= to; page += 1) {
      const held = pages.get(page);
      if (held) keep(page, held);
      if ((!held || stale.has(page)) && !underWay.has(page)) void fetchPage(page);
    }
  };

  return {
    total: () => latest?.total,
    latest: () => latest,
    rowAt: (index) => pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS],
    look: (first, last) => {
      const from = Math.floor(first / PAGE_ROWS);
      const to = Math.floor(Math.max(first, last) / PAGE_ROWS);
      seen = [from, to];
      abandon((page) => page >= from && page <= to);
      clearTimeout(timer);
      if (latest === undefined) fetchMissing(from, to);
      else timer = setTimeout(fetchMissing, REST_MS, from, to);
    },
    reload: () => {
      for (const page of pages.keys()) stale.add(page);
      changes += 1;
      // A running request is not aborted, or a fast growing list would never be shown. It is repeated later.
      fetchMissing(...seen);
    },
    error: () => failure,
    subscribe,
    version,
    close: () => {
      clearTimeout(timer);
      abandon();
    },
  };
}

function createVersion() {
  const { notify, subscribe } = createListeners();
  let version = 0;
  return {
    version: () => version,
    increase: () => {
      version += 1;
      notify();
    },
    subscribe,
  };
}
