/** A lookup's knowledge of the destination so far, shared by its concurrent windows. */
import { comparePaths } from '../../model/entry.ts';
import { pricesOf } from '../../model/prices.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { listTreeItems, type RequestLimit, readTreePage, type TreePage } from './object-pages.ts';

export interface LookupCounts {
  lists: number;
  heads: number;
  destinationSeen: number;
}

export interface LookupState {
  readonly store: ObjectStore;
  readonly limit: RequestLimit;
  readonly signal: AbortSignal;
  readonly tally: LookupCounts;
  readonly wantExtras: boolean;
  readonly pageSize: number;
  /** HEADs that cost as much as a page. */
  readonly headsForList: number;
  /** Source items that a listing page covers, smoothed over the pages so far; 0 before the first. */
  itemsInPage: number;
  /** A listing has ended: no key is after this string. */
  nothingAfter: string | undefined;
  /** Pieces that were looked up while the source was sparse. */
  sparsePieces: number;
}

/** A LIST is a store's most expensive request: about 8 HEADs on a private server, 12.5 by AWS's prices. */
const HEADS_FOR_LIST_MIN = 8;
/** The lowest estimate: a page without any source item shows no more than that. */
const ITEMS_IN_PAGE_MIN = 0.5;
/** The highest estimate: beyond it nothing changes. */
const ITEMS_IN_PAGE_MAX = 64_000;

type StateOptions = Pick<LookupState, 'limit' | 'signal' | 'store' | 'tally' | 'wantExtras'> & {
  readonly pageSize?: number;
  readonly headsForList?: number;
};

export function createLookupState(options: StateOptions): LookupState {
  const { limit, pageSize = 1_000, signal, store, tally, wantExtras } = options;
  const { lists, reads } = pricesOf(store.provider);
  const byPrice = Math.ceil(Math.max(HEADS_FOR_LIST_MIN, reads > 0 ? lists / reads : 0));
  return {
    store,
    limit,
    signal,
    tally,
    wantExtras,
    pageSize,
    headsForList: options.headsForList ?? byPrice,
    itemsInPage: 0,
    nothingAfter: undefined,
    sparsePieces: 0,
  };
}

/** Whether a page would cover so few names that as many HEADs cost less. */
export function areHeadsCheaper({ headsForList, itemsInPage, wantExtras }: LookupState): boolean {
  return !wantExtras && itemsInPage < headsForList;
}

/**
 * Updates the density: source items among a number of a page's keys. Smoothed on a logarithmic scale, since
 * sources can be a hundred times denser in places, and a few pages must suffice to detect it.
 */
export function learnDensity(
  state: LookupState,
  seen: { readonly items: number; readonly keys: number },
): void {
  const inPage = (seen.items * state.pageSize) / Math.max(1, seen.keys);
  const bounded = Math.min(ITEMS_IN_PAGE_MAX, Math.max(ITEMS_IN_PAGE_MIN, inPage));
  state.itemsInPage = state.itemsInPage === 0 ? bounded : Math.sqrt(state.itemsInPage * bounded);
}

/** The first page after that string. No request where the listing is known to have ended. */
export async function readPage(state: LookupState, startAfter: string): Promise<TreePage> {
  if (isAbsentAfter(state, startAfter)) return { items: [], isLast: true };
  const { limit, pageSize, signal, store, tally } = state;
  const page = await readTreePage({
    store,
    limit,
    signal,
    pageSize,
    startAfter,
    onPage: () => {
      tally.lists += 1;
    },
  });
  if (page.isLast) endAt(state, page.items.at(-1)?.path ?? startAfter);
  return page;
}

/** All pages after that string, up to the known end. */
export async function* readPagesAfter(
  state: LookupState,
  startAfter: string,
): AsyncGenerator<readonly TreeItem[]> {
  if (isAbsentAfter(state, startAfter)) return;
  const { limit, pageSize, signal, store, tally } = state;
  const onPage = () => {
    tally.lists += 1;
  };
  yield* listTreeItems({ store, limit, signal, pageSize, startAfter, onPage });
}

/** Whether everything after this string is known to be absent. */
function isAbsentAfter({ nothingAfter }: LookupState, path: string): boolean {
  return nothingAfter !== undefined && comparePaths(path, nothingAfter) >= 0;
}

function endAt(state: LookupState, path: string): void {
  if (!isAbsentAfter(state, path)) state.nothingAfter = path;
}
