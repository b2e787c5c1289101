/**
 * Views of a list of changes: filtered, by kind, sorted. A view is an array of row numbers, computed in
 * slices and kept while it is in use; a request that is stopped stops its view. Each view starts from the
 * narrowest kept one that has all of its rows in its order, so a further letter of a search reads what the
 * letters before it left, and nothing is sorted again.
 */
import type { ChangeRow, ChangeView } from '../../api/host/changes.ts';
import type { Clock } from '../../base/clock.ts';
import { createPause, numbersBelow, type Pause, sortRows } from '../rows/sort-rows.ts';

const VIEWS_KEPT = 4;

/** Row numbers are in the order of the paths. */
export interface ViewedRows {
  readonly size: number;
  /** Its path, and the old path of a rename. */
  textOf(row: number): string;
  changeOf(row: number): ChangeRow['change'];
  sizeOf(row: number): number;
}

/** Undefined: all rows, by path. */
export type ChosenRows = Uint32Array<ArrayBuffer> | undefined;
type Wanted = Omit<ChangeView, 'open'>;

interface View extends Wanted {
  rows?: ChosenRows;
  making?: Promise<void> | undefined;
}

/** @param clock Default: the system's. */
export function createRowViews(
  store: ViewedRows,
  clock?: Pick<Clock, 'monotonicMs'>,
): (wanted: Wanted, signal: AbortSignal) => Promise<ChosenRows> {
  /** All rows, by size. It takes longest, so it is kept beside the others. */
  const bySize: View = { sort: 'size' };
  /** The least recently used first. */
  const views = new Map<string, View>();
  const viewAt = (wanted: Wanted): View => {
    if (isAll(wanted)) return bySize;
    const key = keyOf(wanted);
    const view = views.get(key) ?? { ...wanted };
    views.delete(key);
    views.set(key, view);
    const [oldest] = views.keys();
    if (views.size > VIEWS_KEPT) views.delete(oldest!);
    return view;
  };

  const viewOf = async (wanted: Wanted, signal: AbortSignal): Promise<ChosenRows> => {
    if (isAllByPath(wanted)) return undefined;
    const view = viewAt(wanted);
    // Another request may be making the view, and may be stopped before the end.
    while (!view.rows && view.making) await view.making.catch(() => {});
    if (view.rows) return view.rows;
    view.making = make(view, signal).finally(() => {
      view.making = undefined;
    });
    await view.making;
    return view.rows;
  };

  const make = async (view: View, signal: AbortSignal): Promise<void> => {
    const pause = createPause(signal, clock);
    if (view === bySize) {
      view.rows = await sortBySize(store, pause);
      return;
    }
    const wider = narrowestAround([bySize, ...views.values()], view);
    const from = wider?.rows ?? (await viewOf({ sort: view.sort ?? 'path' }, signal));
    view.rows = await filterRows(store, { from, view, known: wider }, pause);
  };

  return viewOf;
}

function isAll({ filter = '', kinds }: Wanted): boolean {
  return filter === '' && kinds === undefined;
}

function isAllByPath(wanted: Wanted): boolean {
  return isAll(wanted) && wanted.sort !== 'size';
}

function keyOf({ filter = '', kinds, sort = 'path' }: Wanted): string {
  return JSON.stringify([filter, kinds ?? null, sort]);
}

/** The finished view with the fewest rows that has all rows of this one, in its order. */
function narrowestAround(views: readonly View[], wanted: Wanted): View | undefined {
  let narrowest: View | undefined;
  for (const view of views)
    if (view.rows && isAround(view, wanted) && view.rows.length < (narrowest?.rows?.length ?? Infinity))
      narrowest = view;
  return narrowest;
}

function isAround(view: Wanted, { filter = '', kinds, sort = 'path' }: Wanted): boolean {
  const hasKinds = view.kinds === undefined || (kinds?.every((kind) => view.kinds?.includes(kind)) ?? false);
  const isSameOrder = (view.sort ?? 'path') === sort;
  return isSameOrder && hasKinds && filter.toLowerCase().includes((view.filter ?? '').toLowerCase());
}

function sortBySize(store: ViewedRows, pause: Pause): Promise<Uint32Array<ArrayBuffer>> {
  return sortRows(numbersBelow(store.size), (a, b) => store.sizeOf(b) - store.sizeOf(a) || a - b, pause);
}

interface FilterOptions {
  readonly from: ChosenRows;
  readonly view: Wanted;
  /** The view that `from` belongs to. */
  readonly known: Wanted | undefined;
}

async function filterRows(
  store: ViewedRows,
  { from, known, view }: FilterOptions,
  pause: Pause,
): Promise<Uint32Array<ArrayBuffer>> {
  const wanted = view.kinds && new Set(view.kinds);
  const needle = (view.filter ?? '').toLowerCase();
  const isFiltered = (known?.filter ?? '').toLowerCase() === needle;
  const total = from ? from.length : store.size;
  const chosen = new Uint32Array(total);
  let size = 0;
  for (let at = 0; at < total; at += 1) {
    const row = from ? from[at]! : at;
    const wait = pause(at);
    if (wait) await wait;
    if (wanted && !wanted.has(store.changeOf(row))) continue;
    if (isFiltered || store.textOf(row).toLowerCase().includes(needle)) chosen[size++] = row;
  }
  return chosen.slice(0, size);
}
