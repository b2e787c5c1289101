/**
 * What lies at the destination under the names of a source, by as few requests as it takes.
 *
 * Both sides are in order, so pages of the listing and the source are merged. Where all of the destination has to be seen (sync), it is
 * listed in ranges between source paths, several at once. Where only the source's names matter (copy), the listing *leapfrogs*: each
 * LIST starts right before the next name that is not known yet, so what lies between is never fetched; and where a page would cover
 * so few names that as many HEADs cost less, they are asked one by one. Results come in the source's order; what is held is bounded by
 * the ranges in flight, whatever the number of keys.
 */
import { comparePaths } from '../model/entry.ts';
import { MTIME_METADATA, parseObjectTime } from '../model/object-time.ts';
import { pricesOf } from '../model/prices.ts';
import type { TreeItem } from '../model/tree-item.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { beforePath } from './before-path.ts';
import type { MatchedBatch, MatchedPair } from './merge-trees.ts';
import { mergeTrees } from './merge-trees.ts';
import { type RequestLimit, readTreePage } from './object-pages.ts';
import { createOrderedRuns } from './ordered-runs.ts';
import { createWindows, type SourceWindow } from './source-windows.ts';

/** Filled while the lookup runs. */
export interface LookupTally {
  chosen: 'none' | 'each' | 'list' | 'leapfrog' | 'scan';
  reason: string;
  lists: number;
  heads: number;
  destinationSeen: number;
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
  /** For tests; default 1,000. */
  readonly pageSize?: number;
}

/** A LIST is a store's most expensive request: measured at some 8 HEADs on a server of one's own, 12.5 by AWS's prices. */
const HEADS_FOR_A_LIST = 8;
/** A window's last page mostly runs past it; so it is wide, in pages. */
const PAGES_IN_WINDOW = 8;
const HEADS_IN_WINDOW = 64;
const WINDOW_ITEMS_MAX = 16_000;
/** While names are asked one by one, every so often a page is tried: the next stretch may be denser. */
const TRIED_EVERY = 16;

export async function* lookUpDestination(options: LookupOptions): AsyncGenerator<MatchedBatch> {
  const state = createState(options);
  const windows = createWindows(options.source);
  try {
    const first = await windows.peek(state.ratio + 1);
    if (first.length === 0) {
      if (options.wantExtras) yield* listRest(state, '');
      return;
    }
    if (!options.wantExtras && first.length <= state.ratio) {
      chose(state, 'each', `${first.length} HEADs cost no more than a page of the listing.`);
      yield await askEach(state, (await windows.take(first.length)).items);
      return;
    }
    yield* lookUpMany(state, windows, first[0]!);
  } finally {
    await windows.close();
  }
}

interface State extends LookupOptions {
  /** HEADs that cost as much as a page. */
  readonly ratio: number;
  readonly pageSize: number;
  /** Source items that a page covers, smoothed over the pages so far. */
  itemsInPage: number;
  windowsAsked: number;
}

type Windows = ReturnType<typeof createWindows>;

function createState(options: LookupOptions): State {
  const { lists, reads } = pricesOf(options.store.provider);
  const ratio = Math.ceil(Math.max(HEADS_FOR_A_LIST, reads > 0 ? lists / reads : 0));
  return { ...options, ratio, pageSize: options.pageSize ?? 1_000, itemsInPage: 0, windowsAsked: 0 };
}

function chose({ tally }: State, chosen: LookupTally['chosen'], reason: string): void {
  tally.chosen = chosen;
  tally.reason = reason;
}

async function* lookUpMany(state: State, windows: Windows, first: TreeItem): AsyncGenerator<MatchedBatch> {
  const { wantExtras } = state;
  const page = await readPage(state, wantExtras ? '' : beforePath(first.path));
  chose(
    state,
    'list',
    wantExtras
      ? 'All of the destination has to be seen to know what to delete.'
      : 'The first page of the listing told all that there is.',
  );
  if (page.isLast) {
    yield* mergeKnown(state, windows.rest(), page.items);
    return;
  }
  const end = page.items.at(-1)!.path;
  const covered = await windows.takeUntil(end, state.pageSize);
  state.itemsInPage = covered.items.length;
  yield matchWithin(state, covered.items, page.items);
  if (!wantExtras) {
    chose(state, 'leapfrog', 'The listing was fetched where the source has names, and no more.');
  }
  yield* lookUpWindows(state, windows, end);
}

/** Windows in parallel, results in order. `seenUntil`: the destination is known up to there, included. */
async function* lookUpWindows(
  state: State,
  windows: Windows,
  seenUntil: string,
): AsyncGenerator<MatchedBatch> {
  const runs = createOrderedRuns<MatchedBatch>({ signal: state.signal });
  let boundary = seenUntil;
  let isSourceOver = false;
  try {
    for (;;) {
      while (!isSourceOver && runs.hasRoom) {
        const window = await windows.take(windowSize(state));
        isSourceOver = window.items.length === 0;
        if (isSourceOver) break;
        const from = boundary;
        boundary = window.items.at(-1)!.path;
        runs.start((give) => lookUpWindow(state, window, from, give));
      }
      const batch = await runs.next();
      if (batch) yield batch;
      else if (isSourceOver) break;
    }
  } finally {
    await runs.close();
  }
  if (state.wantExtras) yield* listRest(state, boundary);
}

function windowSize({ itemsInPage, ratio, wantExtras }: State): number {
  if (!wantExtras && itemsInPage < ratio) return HEADS_IN_WINDOW;
  return Math.min(WINDOW_ITEMS_MAX, Math.max(1, Math.round(itemsInPage * PAGES_IN_WINDOW)));
}

type Give = (batch: MatchedBatch) => Promise<void>;

async function lookUpWindow(state: State, { items }: SourceWindow, from: string, give: Give): Promise<void> {
  if (state.wantExtras) return listRange(state, items, from, give);
  state.windowsAsked += 1;
  if (state.itemsInPage < state.ratio && state.windowsAsked % TRIED_EVERY !== 0)
    return give(await askEach(state, items));
  for (let at = 0; at < items.length; ) {
    const page = await readPage(state, beforePath(items[at]!.path));
    const end = page.isLast ? items.length : countUntil(items, at, page.items.at(-1)!.path);
    learn(state, end - at);
    await give(matchWithin(state, items.slice(at, end), page.items));
    at = end;
    if (state.itemsInPage >= state.ratio || at >= items.length) continue;
    await give(await askEach(state, items.slice(at)));
    return;
  }
}

/** Everything after `from` and up to the last of the items. */
async function listRange(state: State, items: readonly TreeItem[], from: string, give: Give): Promise<void> {
  const last = items.at(-1)!.path;
  let after = from;
  for (let at = 0; ; ) {
    const page = await readPage(state, after);
    const pageEnd = page.items.at(-1)?.path;
    const isDone = page.isLast || pageEnd === undefined || comparePaths(pageEnd, last) >= 0;
    const end = isDone ? items.length : countUntil(items, at, pageEnd);
    learn(state, end - at);
    const inside = isDone ? page.items.filter(({ path }) => comparePaths(path, last) <= 0) : page.items;
    await give(matchWithin(state, items.slice(at, end), inside));
    if (isDone) return;
    at = end;
    after = pageEnd;
  }
}

/** What comes after the source's last name. */
async function* listRest(state: State, from: string): AsyncGenerator<MatchedBatch> {
  for (let after = from; ; ) {
    const page = await readPage(state, after);
    if (page.items.length > 0) yield { pairs: [], extras: page.items };
    state.tally.destinationSeen += page.items.length;
    if (page.isLast || page.items.length === 0) return;
    after = page.items.at(-1)!.path;
  }
}

function readPage(state: State, startAfter: string) {
  const { limit, pageSize, signal, store, tally } = state;
  return readTreePage({ store, limit, signal, pageSize, startAfter, onPage: () => (tally.lists += 1) });
}

function learn(state: State, items: number): void {
  state.itemsInPage = state.itemsInPage * 0.75 + items * 0.25;
}

/** The first index whose path is past `end`. */
function countUntil(items: readonly TreeItem[], from: number, end: string): number {
  let at = from;
  while (at < items.length && comparePaths(items[at]!.path, end) <= 0) at += 1;
  return at;
}

/** The items, matched with keys among which all of theirs are, if they are at all. */
function matchWithin(state: State, items: readonly TreeItem[], found: readonly TreeItem[]): MatchedBatch {
  const { tally, wantExtras } = state;
  const pairs: MatchedPair[] = [];
  const extras: TreeItem[] = [];
  let at = 0;
  const passOver = (until: string | undefined) => {
    for (; at < found.length && (until === undefined || comparePaths(found[at]!.path, until) < 0); at += 1)
      if (wantExtras) extras.push(found[at]!);
  };
  for (const source of items) {
    passOver(source.path);
    const isThere = found[at]?.path === source.path;
    pairs.push({ source, destination: isThere ? found[at] : undefined });
    if (isThere) at += 1;
  }
  passOver(undefined);
  tally.destinationSeen += found.length;
  return { pairs, extras };
}

async function* mergeKnown(
  state: State,
  source: AsyncIterable<readonly TreeItem[]>,
  found: readonly TreeItem[],
): AsyncGenerator<MatchedBatch> {
  state.tally.destinationSeen += found.length;
  async function* known(): AsyncGenerator<readonly TreeItem[]> {
    yield found;
  }
  for await (const batch of mergeTrees(source, known())) {
    yield state.wantExtras ? batch : { ...batch, extras: [] };
  }
}

async function askEach(state: State, items: readonly TreeItem[]): Promise<MatchedBatch> {
  const { limit, signal, store, tally } = state;
  const pairs = await Promise.all(
    items.map(async (source): Promise<MatchedPair> => {
      tally.heads += 1;
      const info = await limit.run(() => store.head(source.path, { signal }), { bytes: 0, signal });
      if (!info) return { source, destination: undefined };
      tally.destinationSeen += 1;
      const text = info.metadata?.[MTIME_METADATA];
      const time = text === undefined ? undefined : parseObjectTime(text);
      const destination: TreeItem = {
        path: source.path,
        kind: 'object',
        sizeBytes: info.sizeBytes,
        token: info.etag,
        modifiedMs: info.modifiedMs,
        ...(time ? { mtimeNs: time.ns } : {}),
      };
      return { source, destination };
    }),
  );
  return { pairs, extras: [] };
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
      tally.reason = `${first.length} files were looked up by their names.`;
      const pairs = first.map((source) => ({ source, destination: statLocal(source.path) }));
      tally.destinationSeen += pairs.filter(({ destination }) => destination).length;
      if (pairs.length > 0) yield { pairs, extras: [] };
      return;
    }
    tally.chosen = 'scan';
    tally.reason =
      'The destination is a local folder, and reading its folders costs less than asking for each name.';
    for await (const batch of mergeTrees(windows.rest(), scan())) {
      tally.destinationSeen +=
        batch.extras.length + batch.pairs.filter(({ destination }) => destination).length;
      yield wantExtras ? batch : { ...batch, extras: [] };
    }
  } finally {
    await windows.close();
  }
}
