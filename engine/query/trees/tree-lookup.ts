/**
 * What lies at the destination under the names of a source, by as few requests as it takes.
 *
 * Both sides are in order, so pages of the listing and the source are merged. Where all of the destination has to be seen (sync), it is
 * listed in ranges between source paths, several at once. Where only the source's names matter (copy), the listing *leapfrogs*: each
 * LIST starts right before the next name that is not known yet, so what lies between is never fetched; and where a page would cover
 * so few names that as many HEADs cost less, they are asked one by one. Results come in the source's order; what is held is bounded by
 * the ranges in flight, whatever the number of keys.
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
  /** A sentence for people. */
  reason: string;
}

export function createLookupTally(): LookupTally {
  return { chosen: 'none', reason: 'There was nothing to look for.', lists: 0, heads: 0, destinationSeen: 0 };
}

export interface LookupOptions {
  readonly source: AsyncIterable<readonly TreeItem[]>;
  /** The destination, rooted at the tree. */
  readonly store: ObjectStore;
  readonly limit: RequestLimit;
  readonly signal: AbortSignal;
  readonly tally: LookupTally;
  /** Everything at the destination is to be seen. */
  readonly wantExtras: boolean;
  /** So many HEADs are worth a page of the listing. Default: by the provider's prices, at least 8. */
  readonly headsForList?: number;
  /** For tests; default 1,000. */
  readonly pageSize?: number;
}

/**
 * Every item of the source once, in order, and with `wantExtras` all that lies at the destination alone, in order.
 * @throws UnorderedListing when the store lists in no order, at any time: what was told until then is true. And what the store throws.
 */
export async function* lookUpDestination(options: LookupOptions): AsyncGenerator<MatchedBatch> {
  const { tally, wantExtras } = options;
  const state = createLookupState(options);
  const windows = createWindows(options.source);
  try {
    const first = wantExtras ? [] : await windows.peek(state.headsForList + 1);
    if (wantExtras) {
      tally.chosen = 'list';
      tally.reason = 'All of the destination has to be seen to know what to delete.';
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
        ? 'The first page of the listing told all that there is.'
        : 'The listing was fetched where the source has names, and where it has few they were asked for one by one.';
    });
  } finally {
    await windows.close();
  }
}

/** A page that covers so many source items lasts: the next one is read when they are through. */
const ITEMS_IN_LONE_PAGE = 8_000;

/** Page after page where one tells of thousands of names, and in windows side by side where it does not. */
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
    if (tellsOfMany(state)) continue;
    seenUntil = yield* lookUpWindows(state, windows, seenUntil);
  }
  if (!wantExtras) return;
  for await (const extras of readPagesAfter(state, seenUntil)) {
    state.tally.destinationSeen += extras.length;
    yield { pairs: [], extras };
  }
}

const tellsOfMany = ({ itemsInPage }: LookupState): boolean => itemsInPage >= ITEMS_IN_LONE_PAGE;

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

/** Windows in parallel, results in order, until the source ends or pages cover more than a window. Returns what is seen then. */
async function* lookUpWindows(
  state: LookupState,
  windows: SourceWindows,
  from: string,
): AsyncGenerator<MatchedBatch, string> {
  const runs = createOrderedRuns<MatchedBatch>({ signal: state.signal });
  let boundary = from;
  let isSourceOver = false;
  try {
    for (;;) {
      while (!isSourceOver && runs.hasRoom && !tellsOfMany(state)) {
        const items = await windows.take(windowItems(state));
        isSourceOver = items.length === 0;
        if (isSourceOver) break;
        const seenUntil = boundary;
        boundary = items.at(-1)!.path;
        runs.start((give) => lookUpWindow(state, { items, seenUntil, give }));
      }
      const batch = await runs.next();
      if (batch) yield batch;
      else if (isSourceOver || tellsOfMany(state)) return boundary;
    }
  } finally {
    await runs.close();
  }
}

export interface LocalLookupOptions {
  readonly source: AsyncIterable<readonly TreeItem[]>;
  /** One file; undefined when nothing is there. */
  readonly statLocal: (path: string) => TreeItem | undefined;
  /** All files, in order. */
  readonly scan: () => AsyncIterable<readonly TreeItem[]>;
  readonly wantExtras: boolean;
  readonly tally: LookupTally;
}

/** Sources of at most so many names are looked up name by name, without reading any folder. */
const STATS_MAX = 1_000;

export async function* lookUpLocal(options: LocalLookupOptions): AsyncGenerator<MatchedBatch> {
  const { scan, statLocal, tally, wantExtras } = options;
  const windows = createWindows(options.source);
  try {
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
  } finally {
    await windows.close();
  }
}

function isFileThere({ destination }: MatchedPair): boolean {
  return destination !== undefined && !isHoldingFolder(destination);
}
