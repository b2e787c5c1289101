/**
 * The list of a folder's entries, which may have millions of rows and grows while the folder is listed. A
 * view (filtered, sorted) is an array of row numbers. The first request for it creates it, and each later one
 * adds the rows listed since. The work is done in slices, so other requests run meanwhile.
 */
import type { AllChosen, EntryRow, EntryView } from '../../api/host/browse.ts';
import { DESCRIPTOR_KEY } from '../../repository/keys.ts';
import type { RowRange } from '../rows/row-range.ts';
import { type CompareRows, createPause, mergeRows, type Pause, sortRows } from '../rows/sort-rows.ts';
import { createEntryRows, type EntryRows } from './entry-rows.ts';

const VIEWS_KEPT = 3;

export interface EntryList {
  readonly size: number;
  /** True once the list contains a repository's descriptor. */
  readonly isRepository: boolean;
  push(entries: readonly EntryRow[]): void;
  rows(view: EntryView, range: RowRange, signal: AbortSignal): Promise<EntryPage>;
  /** The index in the view of a path, or of the first name that starts with the text, ignoring case. */
  seek(view: EntryView, sought: Sought, signal: AbortSignal): Promise<number | undefined>;
  /** The entries at these paths. */
  find(paths: readonly string[], signal: AbortSignal): Promise<readonly EntryRow[]>;
  /** The entries that match the filter, without the exceptions. */
  chosen(all: Omit<AllChosen, 'list'>): Generator<EntryRow>;
}

export interface PlaceListing {
  readonly place: string;
  readonly entries: EntryList;
  /**
   * Lists the rest of the folder, until the signal fires. @returns False if the folder has too many entries.
   */
  listRest(signal: AbortSignal, onMore: () => void): Promise<boolean>;
  close(): void;
}

export interface EntryPage {
  readonly total: number;
  readonly bytes: number;
  readonly rows: readonly EntryRow[];
}

export type Sought = { readonly startsWith: string } | { readonly path: string };

interface View {
  rows: Uint32Array;
  /** The number of listed rows that the view has processed. */
  upTo: number;
  /** The total size of the view's files. */
  bytes: number;
  making?: Promise<void> | undefined;
  /** The last search by the start of a name: in these rows, none before `upTo` starts with it. */
  sought?: { readonly rows: Uint32Array; readonly start: string; readonly upTo: number };
}

export function createEntryList(entries: EntryRows = createEntryRows()): EntryList {
  const views = new Map<string, View>();
  let isRepository = false;

  const viewOf = async (spec: EntryView, signal: AbortSignal): Promise<View> => {
    const key = JSON.stringify([spec.filter ?? '', spec.sort ?? 'name', spec.isDescending ?? false]);
    const view = views.get(key) ?? { rows: new Uint32Array(0), upTo: 0, bytes: 0 };
    views.delete(key);
    views.set(key, view);
    const [oldest] = views.keys();
    if (views.size > VIEWS_KEPT) views.delete(oldest!);
    // Another request may be building the view, and may be aborted before the end.
    while (view.upTo < entries.size) {
      if (view.making) await view.making.catch(() => {});
      else {
        view.making = growView(entries, view, spec, createPause(signal)).finally(() => {
          view.making = undefined;
        });
        await view.making;
        break;
      }
    }
    return view;
  };

  return {
    get size() {
      return entries.size;
    },
    get isRepository() {
      return isRepository;
    },
    push(more) {
      for (const entry of more) {
        entries.push(entry);
        if (entry.path === DESCRIPTOR_KEY && entry.kind === 'file') isRepository = true;
      }
    },
    async rows(spec, { limit, offset }, signal) {
      const { bytes, rows } = await viewOf(spec, signal);
      return {
        total: rows.length,
        bytes,
        rows: [...rows.subarray(offset, offset + limit)].map(entries.read),
      };
    },
    async seek(spec, sought, signal) {
      const view = await viewOf(spec, signal);
      const { rows } = view;
      const pause = createPause(signal);
      const isSought = matcherOf(sought);
      const start = 'path' in sought ? undefined : sought.startsWith.toLowerCase();
      // A further letter continues where the letters before it led to.
      let at = start === undefined ? 0 : soughtBefore(view, start);
      try {
        for (; at < rows.length; at += 1) {
          if (isSought(entries.nameOf(rows[at]!))) return at;
          const wait = pause(at);
          if (wait) await wait;
        }
        return undefined;
      } finally {
        if (start !== undefined) view.sought = { rows, start, upTo: at };
      }
    },
    async find(paths, signal) {
      const wanted = new Set(paths);
      const pause = createPause(signal);
      const found: EntryRow[] = [];
      for (let row = 0; row < entries.size && found.length < wanted.size; row += 1) {
        if (wanted.has(entries.nameOf(row))) found.push(entries.read(row));
        const wait = pause(row);
        if (wait) await wait;
      }
      return found;
    },
    *chosen({ except, filter }) {
      const isMatch = filterOf(filter);
      const excepted = new Set(except);
      for (let row = 0; row < entries.size; row += 1) {
        const name = entries.nameOf(row);
        if ((!isMatch || isMatch(name)) && !excepted.has(name)) yield entries.read(row);
      }
    },
  };
}

async function growView(entries: EntryRows, view: View, spec: EntryView, pause: Pause): Promise<void> {
  const end = entries.size;
  const isMatch = filterOf(spec.filter ?? '');
  const fresh = new Uint32Array(end - view.upTo);
  let size = 0;
  let bytes = 0;
  for (let row = view.upTo; row < end; row += 1) {
    if (!isMatch || isMatch(entries.nameOf(row))) {
      fresh[size++] = row;
      bytes += entries.sizeOf(row);
    }
    const wait = pause(row);
    if (wait) await wait;
  }
  const compare = orderOf(entries, spec, await entries.nameOrder(pause));
  const sorted = await sortRows(fresh.slice(0, size), compare, pause);
  view.rows = await mergeRows(view.rows, sorted, compare, pause);
  view.bytes += bytes;
  view.upTo = end;
}

/** Folders come first in every order. */
function orderOf(
  entries: EntryRows,
  { isDescending = false, sort = 'name' }: EntryView,
  byName: CompareRows,
): CompareRows {
  const sign = isDescending ? -1 : 1;
  const byColumn: CompareRows =
    sort === 'size'
      ? (a, b) => entries.sizeOf(a) - entries.sizeOf(b)
      : sort === 'time'
        ? (a, b) => entries.timeOf(a) - entries.timeOf(b)
        : byName;
  return (a, b) =>
    Number(entries.isFolder(b)) - Number(entries.isFolder(a)) || sign * byColumn(a, b) || byName(a, b);
}

/** The number of rows at the top of the view that are known not to start with this. */
function soughtBefore({ rows, sought }: View, start: string): number {
  return sought?.rows === rows && start.startsWith(sought.start) ? sought.upTo : 0;
}

/** Undefined if all names match. */
function filterOf(filter: string): ((name: string) => boolean) | undefined {
  if (filter === '') return undefined;
  const needle = filter.toLowerCase();
  return (name) => name.toLowerCase().includes(needle);
}

function matcherOf(sought: Sought): (name: string) => boolean {
  if ('path' in sought) return (name) => name === sought.path;
  const start = sought.startsWith.toLowerCase();
  return (name) => name.toLowerCase().startsWith(start);
}
