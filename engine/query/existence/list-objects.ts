/**
 * Fetches the listing in concurrent ranges, and only the ranges with a candidate.
 *
 * The space outside the sampled windows is cut into cells of slightly less than one page each, by the
 * estimate. A cell is fetched for the first candidate in it and answers all later ones. So the listing never
 * takes more requests than there are pages or candidates, and needs no candidate in advance.
 *
 * A cell is kept as a sorted run of 20 bytes per hash (hash-run.ts): about 200 MB for ten million objects.
 */
import { firstIndexWhere } from '../../base/sorted-search.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { SampledWindow } from './estimate-objects.ts';
import { countOf, type HashRun, joinRuns, packHashes, sizeInRun } from './hash-run.ts';
import { positionOf, SPACE } from './hash-space.ts';
import { fetchRangePage, type ListPages } from './list-page.ts';
import { PAGE_OBJECTS } from './plan-query.ts';
import { gapsBetween } from './sampler.ts';

/**
 * How far cells stay below a page: 2.2 standard deviations, so that about one in seventy needs a second
 * request.
 */
const CELL_DEVIATIONS = 2.2;
/** Bounds the memory for a remote of more than 900 million objects; a cell then takes several pages. */
const CELLS_MAX = 1 << 20;
/** The most parts of a range that turns out denser than estimated. */
const SPLIT_MAX = 16;

export interface ListingOptions {
  readonly list: ListPages;
  /** Known ranges: ascending, disjoint. */
  readonly windows: readonly SampledWindow[];
  /** Objects on the remote and their standard error as a share of them (0.03: 3 %). */
  readonly objects: number;
  readonly relativeError: number;
}

export interface ObjectListing {
  /** The answer, if a listed range contains the hash: its size in bytes, or null. No request. */
  known(hash: BlobHash): number | null | undefined;
  /** The hashes that exist, and their sizes. Fetches unknown ranges that contain them, each once. */
  find(hashes: readonly BlobHash[]): Promise<ReadonlyMap<BlobHash, number>>;
  /** The number of objects once every range is known. */
  total(): number | undefined;
}

/** A range of the space; `run` is set once it is known. */
interface Cell {
  readonly start: number;
  readonly end: number;
  run?: HashRun;
  pending?: Promise<void> | undefined;
}

export function createListing(options: ListingOptions): ObjectListing {
  const cells = cutCells(options);

  const load = async (cell: Cell): Promise<void> => {
    try {
      cell.run = joinRuns(await listRange(options.list, cell.start, cell.end));
    } finally {
      // After a failure the next query tries again.
      cell.pending = undefined;
    }
  };

  return {
    known: (hash) => {
      const { run } = cellOf(cells, hash);
      return run === undefined ? undefined : (sizeInRun(run, hash) ?? null);
    },
    find: async (hashes) => {
      const loads = new Set<Promise<void>>();
      for (const hash of hashes) {
        const cell = cellOf(cells, hash);
        if (cell.run !== undefined) continue;
        cell.pending ??= load(cell);
        loads.add(cell.pending);
      }
      // Waits for all of them before it reports a failure, so that no request is left in flight.
      for (const outcome of await Promise.allSettled(loads)) {
        if (outcome.status === 'rejected') throw outcome.reason;
      }
      const found = new Map<BlobHash, number>();
      for (const hash of hashes) {
        const { run } = cellOf(cells, hash);
        const sizeBytes = run && sizeInRun(run, hash);
        if (sizeBytes !== undefined) found.set(hash, sizeBytes);
      }
      return found;
    },
    total: () => {
      let total = 0;
      for (const { run } of cells) {
        if (run === undefined) return undefined;
        total += countOf(run);
      }
      return total;
    },
  };
}

/**
 * Every hash from position `start` to before `end`, as runs in ascending order. If the first page shows that
 * a range is much longer than a page, the range is split by the page's density, and its parts are fetched
 * concurrently.
 */
async function listRange(
  list: ListPages,
  start: number,
  end: number,
  after?: BlobHash,
): Promise<readonly HashRun[]> {
  const page = await fetchRangePage(list, { start, end, after });
  const run = packHashes(page.hashes, page.sizes);
  const last = page.hashes.at(-1);
  if (page.isWhole || last === undefined) return [run];

  const reached = positionOf(last);
  const pagesLeft = (end - reached) / Math.max(1, reached - start);
  const parts = Math.min(SPLIT_MAX, Math.max(1, Math.ceil(pagesLeft / pageShare(0.03))), end - reached);
  const bounds = Array.from(
    { length: parts + 1 },
    (_, part) => reached + Math.floor(((end - reached) * part) / parts),
  );
  const rest = await Promise.all(
    bounds
      .slice(0, -1)
      .map((from, part) => listRange(list, from, bounds[part + 1] ?? end, part === 0 ? last : undefined)),
  );
  return [run, ...rest.flat()];
}

/** The share of a page that a cell aims at, so that it rarely overflows. */
function pageShare(relativeError: number): number {
  const deviation = Math.sqrt(PAGE_OBJECTS + (PAGE_OBJECTS * relativeError) ** 2);
  return Math.max(0.5, 1 - (CELL_DEVIATIONS * deviation) / PAGE_OBJECTS);
}

function cutCells(options: ListingOptions): readonly Cell[] {
  const { objects, windows } = options;
  const cellObjects = Math.max(PAGE_OBJECTS * pageShare(options.relativeError), objects / CELLS_MAX);
  const cells: Cell[] = [...windows];
  for (const gap of gapsBetween(windows)) {
    const width = gap.end - gap.start;
    const count = Math.max(1, Math.ceil((objects * width) / SPACE / cellObjects));
    let start = gap.start;
    for (let part = 1; part <= count; part += 1) {
      const end = part === count ? gap.end : gap.start + Math.floor((width * part) / count);
      if (end > start) cells.push({ start, end });
      start = end;
    }
  }
  return cells.sort((a, b) => a.start - b.start);
}

/** The cells cover the space without gaps, so there always is one. */
function cellOf(cells: readonly Cell[], hash: BlobHash): Cell {
  const position = positionOf(hash);
  return cells[firstIndexWhere(cells, 0, ({ start }) => start > position) - 1] as Cell;
}
