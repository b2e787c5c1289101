/**
 * A list of changes that may have millions of rows, in buffers outside the JavaScript heap: 25 bytes for each
 * row, and its paths. `row-views.ts` filters and sorts them.
 */
import type { ChangeRow, ChangeView } from '../../api/host/changes.ts';
import { comparePaths } from '../../model/entry.ts';
import { createGrowingBytes, createGrowingNumbers } from '../rows/growing-columns.ts';
import type { RowRange } from '../rows/row-range.ts';
import { createPause, numbersBelow, sortRows } from '../rows/sort-rows.ts';
import { createDigest } from './row-digest.ts';
import { createRowTree, type RowTree } from './row-tree.ts';
import { createRowViews, type ViewedRows } from './row-views.ts';

const CHANGES = ['added', 'modified', 'deleted', 'renamed', 'mode', 'time', 'conflict'] as const;
const KINDS = ['file', 'link', 'folder'] as const;
const NO_SIZE = -1;
/** Rows beyond this number count in the totals and are not listed. */
const ROWS_MAX = 20_000_000;
/** No path contains it. It separates the old path of a rename from the new one. */
const SEPARATOR = '\0';

export interface RowList {
  readonly size: number;
  /** True for the rows of a pull, whose deleted files are still in the folder. */
  readonly isPull: boolean;
  /** Equal for lists with the same rows. */
  readonly digest: number;
  /** Equal for lists with the same deletions. */
  readonly deletions: number;
  push(row: ChangeRow): void;
  /** Makes the pushed rows readable, in the order of their paths. Nothing may be pushed after it. */
  end(signal: AbortSignal): Promise<void>;
  rows(view: ChangeView, range: RowRange, signal: AbortSignal): Promise<ChangePage>;
  /** The row at this path, and its place in the view; a folder's path ends in a slash. */
  seek(
    view: ChangeView,
    path: string,
    signal: AbortSignal,
  ): Promise<{ readonly index?: number; readonly row?: ChangeRow }>;
  /** The rows at these paths; a folder's path ends in a slash. */
  find(paths: readonly string[]): ChangeRow[];
}

export interface ChangePage {
  readonly total: number;
  readonly rows: ChangeRow[];
}

export function createRowList({ isPull = false } = {}): RowList {
  const store = createRowStore();
  const digest = createDigest();
  const deletions = createDigest();
  const viewOf = createRowViews(store);
  /** By their view. */
  const trees = new WeakMap<object, RowTree>();
  const treeOf = (chosen: Uint32Array | undefined): RowTree => {
    const known = trees.get(chosen ?? store);
    if (known) return known;
    const tree = treeOfRows(store, chosen);
    trees.set(chosen ?? store, tree);
    return tree;
  };
  return {
    get size() {
      return store.size;
    },
    isPull,
    get digest() {
      return digest.read();
    },
    get deletions() {
      return deletions.read();
    },
    push(row) {
      digest.add(row);
      if (row.change === 'deleted') deletions.add(row);
      store.push(row);
    },
    end: store.end,
    async rows({ open, ...view }, { limit, offset }, signal) {
      const chosen = await viewOf(open ? { ...view, sort: 'path' } : view, signal);
      if (open) return treeOf(chosen).rows(open, offset, limit);
      const total = chosen ? chosen.length : store.size;
      const rows: ChangeRow[] = [];
      for (let at = offset; at < Math.min(total, offset + limit); at += 1)
        rows.push(store.read(chosen ? chosen[at]! : at));
      return { total, rows };
    },
    async seek({ open, ...view }, path, signal) {
      const whole = treeOf(undefined);
      const row = whole.find(path);
      if (!row) return {};
      const chosen = await viewOf(open ? { ...view, sort: 'path' } : view, signal);
      if (open) return { ...indexed(treeOf(chosen).indexOf(open, path)), row };
      const at = whole.positionOf(path) ?? -1;
      return { ...indexed(chosen ? chosen.indexOf(at) : at), row };
    },
    find(paths) {
      const tree = treeOf(undefined);
      return paths.map(tree.find).filter((row) => row !== undefined);
    },
  };
}

function indexed(index = -1): { readonly index?: number } {
  return index < 0 ? {} : { index };
}

/** Once it has ended, a row's number is its place in the order of the paths. */
interface RowStore extends ViewedRows {
  push(row: ChangeRow): void;
  end(signal: AbortSignal): Promise<void>;
  read(row: number): ChangeRow;
}

function createRowStore(): RowStore {
  const paths = createGrowingBytes();
  /** The start of each row's text; the next start is its end. */
  const starts = createGrowingNumbers();
  const sizes = createGrowingNumbers();
  const oldSizes = createGrowingNumbers();
  const codes = createGrowingBytes();
  let count = 0;
  let lastPath = '';
  let isSorted = true;
  /** The numbers of the rows as they arrived, in the order of their paths; undefined: they arrived in it. */
  let order: Uint32Array | undefined;
  const arrivalOf = (row: number) => (order ? order[row]! : row);
  const rangeOf = (arrival: number) => [starts.at(arrival), starts.at(arrival + 1)] as const;
  const textOf = (row: number) => paths.text(...rangeOf(arrivalOf(row)));
  const changeOf = (row: number) => CHANGES[codes.at(arrivalOf(row)) >> 2]!;
  const sizeOf = (row: number) => sizes.at(arrivalOf(row));
  return {
    get size() {
      return count;
    },
    push({ change, fromPath, kind, oldSizeBytes, path, sizeBytes }) {
      if (count === ROWS_MAX) return;
      if (count > 0 && isSorted) isSorted = comparePaths(lastPath, path) < 0;
      lastPath = path;
      starts.push(paths.size);
      paths.push(fromPath === undefined ? path : path + SEPARATOR + fromPath);
      sizes.push(sizeBytes);
      oldSizes.push(oldSizeBytes ?? NO_SIZE);
      codes.pushByte((CHANGES.indexOf(change) << 2) | KINDS.indexOf(kind));
      count += 1;
    },
    async end(signal) {
      starts.push(paths.size);
      for (const part of [paths, starts, sizes, oldSizes, codes]) part.trim();
      if (isSorted) return;
      const byPath = (a: number, b: number) => paths.compare(rangeOf(a), rangeOf(b));
      order = await sortRows(numbersBelow(count), byPath, createPause(signal));
    },
    read(row) {
      const [path, fromPath] = textOf(row).split(SEPARATOR) as [string, string?];
      const oldSizeBytes = oldSizes.at(arrivalOf(row));
      return {
        change: changeOf(row),
        path,
        ...(fromPath === undefined ? {} : { fromPath }),
        kind: KINDS[codes.at(arrivalOf(row)) & 3]!,
        sizeBytes: sizeOf(row),
        ...(oldSizeBytes === NO_SIZE ? {} : { oldSizeBytes }),
      };
    },
    textOf,
    changeOf,
    sizeOf,
  };
}

/** @param chosen In order of path; default: all rows. */
function treeOfRows(store: RowStore, chosen: Uint32Array | undefined): RowTree {
  const rowAt = (at: number) => (chosen ? chosen[at]! : at);
  return createRowTree({
    size: chosen ? chosen.length : store.size,
    pathAt: (at) => store.textOf(rowAt(at)).split(SEPARATOR, 1)[0]!,
    rowAt: (at) => store.read(rowAt(at)),
    sizeAt: (at) => store.sizeOf(rowAt(at)),
    changeAt: (at) => store.changeOf(rowAt(at)),
  });
}
