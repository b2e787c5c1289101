/**
 * Finds the destination's items for the names of a source, with few requests.
 *
 * Both sides are in order, so listing pages and the source are merged. When everything at the destination is
 * needed (sync), it is listed in ranges between source paths, several at once. When only the source's names
 * matter (copy), the listing *leapfrogs*: each LIST starts right before the next unknown name, so nothing
 * between is fetched. Where a page would cover so few names that as many HEADs cost less, they are asked one
 * by one. Results come in the source's order. Memory is bounded by the ranges in flight, whatever the number
 * of keys.
 */
import { isHoldingFolder, type TreeItem } from '../../model/tree-item.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { askEach } from './ask-each.ts';
import { beforePathFrom } from './before-path.ts';
import {
  createLookupState,
  type LookupCounts,
  type LookupState,
  learnDensity,
  readPage,
  readPagesAfter,
} from './lookup-state.ts';
import { lookUpWindow, windowItems } from './lookup-window.ts';
import { type MatchedBatch, type MatchedPair, mergeTrees } from './merge-trees.ts';
import type { RequestLimit, TreePage } from './object-pages.ts';
import { createOrderedRuns } from './ordered-runs.ts';
import { createPageMatcher } from './page-matcher.ts';
import { createWindows, type SourceWindows } from './source-windows.ts';

/** Filled while the lookup runs. */
export interface LookupTally extends LookupCounts {
  chosen: 'none' | 'each' | 'list' | 'leapfrog' | 'scan';
  /** A sentence for users. */
  reason: string;
}

export function createLookupTally(): LookupTally {
  return { chosen: 'none', reason: 'There was nothing to look up.', lists: 0, heads: 0, destinationSeen: 0 };
}

export interface LookupOptions {
  readonly source: AsyncIterable<readonly TreeItem[]>;
  /** The destination, rooted at the tree. */
  readonly store: ObjectStore;
  readonly limit: RequestLimit;
  readonly signal: AbortSignal;
  readonly tally: LookupTally;
  /** Also return everything that only the destination has. */
  readonly wantExtras: boolean;
  /**
   * The number of HEADs that cost as much as a listing page. Default: from the provider's prices, at least 8.
   */
  readonly headsForList?: number;
  /** For tests; default 1,000. */
  readonly pageSize?: number;
}

/**
 * Every item of the source once, in order, and with `wantExtras` everything that only the destination has, in
 * order.
 * @throws UnorderedListing when the store lists without order, at any time; earlier results stay valid. Also
 * the store's errors.
 */
export async function* lookUpDestination(options: LookupOptions): AsyncGenerator<MatchedBatch> {
  const { tally, wantExtras } = options;
  const state = createLookupState(options);
  await using windows = createWindows(options.source);
  const first = wantExtras ? [] : await windows.peek(state.headsForList + 1);
  if (wantExtras) {
    tally.chosen = 'list';
    tally.reason = 'Deleting needs a full listing of the destination.';
  } else if (first.length === 0) {
    return;
  } else if (first.length <= state.headsForList) {
    tally.chosen = 'each';
    tally.reason = `${first.length} HEADs cost no more than a page of the listing.`;
    yield await askEach(state, await windows.take(first.length));
    return;
  }
  yield* lookUpMany(state, windows, (page) => {
    if (wantExtras || tally.chosen !== 'none') return;
    tally.chosen = page.isLast ? 'list' : 'leapfrog';
    tally.reason = page.isLast
      ? 'The first page of the listing was the whole listing.'
      : 'The listing was fetched where the source has many names; others were asked one by one.';
  });
}

/** A page that covers so many source items lasts: the next one is read when they have been matched. */
const ITEMS_IN_LONE_PAGE = 8_000;

/** Page after page where one covers thousands of names, otherwise in concurrent windows. */
async function* lookUpMany(
  state: LookupState,
  windows: SourceWindows,
  onPage: (page: TreePage) => void,
): AsyncGenerator<MatchedBatch> {
  const { wantExtras } = state;
  let seenUntil = '';
  for (;;) {
    const [next] = await windows.peek(1);
    if (next === undefined) break;
    const page = await readPage(state, wantExtras ? seenUntil : beforePathFrom(next.path, seenUntil));
    onPage(page);
    const pageEnd = page.isLast ? undefined : page.items.at(-1)!.path;
    yield* matchPage(state, windows.takeUntil(pageEnd), page.items);
    if (pageEnd === undefined) return;
    seenUntil = pageEnd;
    if (isDense(state)) continue;
    seenUntil = yield* lookUpWindows(state, windows, seenUntil);
  }
  if (!wantExtras) return;
  for await (const extras of readPagesAfter(state, seenUntil)) {
    state.tally.destinationSeen += extras.length;
    yield { pairs: [], extras };
  }
}

const isDense = ({ itemsInPage }: LookupState): boolean => itemsInPage >= ITEMS_IN_LONE_PAGE;

/** One page and all the source items that it covers, however many. */
async function* matchPage(
  state: LookupState,
  source: AsyncIterable<readonly TreeItem[]>,
  page: readonly TreeItem[],
): AsyncGenerator<MatchedBatch> {
  const matcher = createPageMatcher(page, state);
  state.tally.destinationSeen += page.length;
  let count = 0;
  for await (const items of source) {
    count += items.length;
    yield matcher.match(items);
  }
  learnDensity(state, { items: count, keys: page.length });
  const extras = matcher.rest();
  if (extras.length > 0) yield { pairs: [], extras };
}

/**
 * Concurrent windows with results in order, until the source ends or pages cover more than a window. Returns
 * the string up to which everything is known.
 */
async function* lookUpWindows(
  state: LookupState,
  windows: SourceWindows,
  from: string,
): AsyncGenerator<MatchedBatch, string> {
  await using runs = createOrderedRuns<MatchedBatch>({ signal: state.signal });
  let boundary = from;
  let isSourceOver = false;
  for (;;) {
    while (!isSourceOver && runs.hasRoom && !isDense(state)) {
      const items = await windows.take(windowItems(state));
      isSourceOver = items.length === 0;
      if (isSourceOver) break;
      const seenUntil = boundary;
      boundary = items.at(-1)!.path;
      runs.start((give) => lookUpWindow(state, { items, seenUntil, give }));
    }
    const batch = await runs.next();
    if (batch) yield batch;
    else if (isSourceOver || isDense(state)) return boundary;
  }
}

export interface LocalLookupOptions {
  readonly source: AsyncIterable<readonly TreeItem[]>;
  /** One file; undefined when it does not exist. */
  readonly statLocal: (path: string) => TreeItem | undefined;
  /** All files, in order. */
  readonly scan: () => AsyncIterable<readonly TreeItem[]>;
  readonly wantExtras: boolean;
  readonly tally: LookupTally;
}

/** Sources of at most this many names are looked up name by name, without reading any folder. */
const STATS_MAX = 1_000;

export async function* lookUpLocal(options: LocalLookupOptions): AsyncGenerator<MatchedBatch> {
  const { scan, statLocal, tally, wantExtras } = options;
  await using windows = createWindows(options.source);
  const first = wantExtras ? [] : await windows.peek(STATS_MAX + 1);
  if (!wantExtras && first.length <= STATS_MAX) {
    tally.chosen = 'each';
    const files = first.filter((item) => !isHoldingFolder(item)).length;
    tally.reason = `${files} files were looked up by their names.`;
    const pairs = first.map((source) => ({ source, destination: statLocal(source.path) }));
    tally.destinationSeen += pairs.filter(isFileThere).length;
    if (pairs.length > 0) yield { pairs, extras: [] };
    return;
  }
  tally.chosen = 'scan';
  tally.reason =
    'The destination is a local folder, and reading its folders costs less than asking for each name.';
  for await (const batch of mergeTrees(windows.takeUntil(undefined), scan())) {
    tally.destinationSeen +=
      batch.extras.filter((item) => !isHoldingFolder(item)).length + batch.pairs.filter(isFileThere).length;
    yield wantExtras ? batch : { ...batch, extras: [] };
  }
}

function isFileThere({ destination }: MatchedPair): boolean {
  return destination !== undefined && !isHoldingFolder(destination);
}
