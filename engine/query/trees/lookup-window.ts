/**
 * A stretch of the source that is looked up concurrently with others. The last page usually extends beyond
 * its end, so a stretch is several pages wide, slightly less than whole ones, estimated from earlier pages.
 */
import { firstIndexWhere } from '../../base/sorted-search.ts';
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { askEach } from './ask-each.ts';
import { beforePathFrom } from './before-path.ts';
import { areHeadsCheaper, type LookupState, learnDensity, readPage } from './lookup-state.ts';
import type { MatchedBatch } from './merge-trees.ts';
import { createPageMatcher } from './page-matcher.ts';

const PAGES = 8;
/** Eight windows are in flight: in a long walk their last pages cost little, but their memory does. */
const PAGES_OF_LONG_WALK = 4;
const LONG_WALK_LISTS = 40;
/**
 * Left free for places where the source is denser than before; nothing where both sides are alike, page by
 * page.
 */
const SPARE_PAGES = 0.25;
const ITEMS_MAX = 16_000;
const HEADS_AT_ONCE = 64;
/**
 * While names are asked one by one, a page is tried after this many pieces: the next stretch may be denser.
 */
const PIECES_TO_TRIAL = 16;

/** How many source items the next window takes. */
export function windowItems(state: LookupState): number {
  if (areHeadsCheaper(state)) return HEADS_AT_ONCE;
  const { itemsInPage, pageSize, tally, wantExtras } = state;
  const isLong = wantExtras || tally.lists >= LONG_WALK_LISTS;
  const pages = Math.min(
    isLong ? PAGES_OF_LONG_WALK : PAGES,
    Math.max(1, Math.floor(ITEMS_MAX / itemsInPage)),
  );
  return Math.max(1, Math.round(itemsInPage * (itemsInPage === pageSize ? pages : pages - SPARE_PAGES)));
}

export interface WindowLookup {
  /** Not empty. */
  readonly items: readonly TreeItem[];
  /** Everything up to this string is known: the path before the first item, or further. */
  readonly seenUntil: string;
  readonly give: (batch: MatchedBatch) => Promise<void>;
}

export function lookUpWindow(state: LookupState, window: WindowLookup): Promise<void> {
  return state.wantExtras ? listWindow(state, window) : leapfrogWindow(state, window);
}

/** From name to name: each page begins right before the first unknown name. */
async function leapfrogWindow(state: LookupState, { give, items, seenUntil }: WindowLookup): Promise<void> {
  let after = seenUntil;
  for (let at = 0; at < items.length; ) {
    if (asksEach(state)) {
      const piece = items.slice(at, at + HEADS_AT_ONCE);
      await give(await askEach(state, piece));
      at += piece.length;
      continue;
    }
    const page = await readPage(state, beforePathFrom(items[at]!.path, after));
    after = page.items.at(-1)?.path ?? after;
    const end = page.isLast ? items.length : countUntil(items, after, at);
    const covered = items.slice(at, end);
    const keys = countUntil(page.items, covered.at(-1)?.path ?? '');
    // A window that ends within the page covers only the keys up to there.
    learnDensity(state, { items: covered.length, keys: end < items.length ? page.items.length : keys });
    state.tally.destinationSeen += page.items.length;
    if (covered.length > 0) await give(createPageMatcher(page.items, state).match(covered));
    at = end;
  }
}

function asksEach(state: LookupState): boolean {
  if (!areHeadsCheaper(state)) return false;
  state.sparsePieces += 1;
  return state.sparsePieces % PIECES_TO_TRIAL !== 0;
}

/** Everything after `seenUntil` up to the window's last name. */
async function listWindow(state: LookupState, { give, items, seenUntil }: WindowLookup): Promise<void> {
  const last = items.at(-1)!.path;
  let after = seenUntil;
  for (let at = 0; ; ) {
    const page = await readPage(state, after);
    const pageEnd = page.items.at(-1)?.path ?? after;
    const isDone = page.isLast || comparePaths(pageEnd, last) >= 0;
    const end = isDone ? items.length : countUntil(items, pageEnd, at);
    const inside = isDone ? page.items.slice(0, countUntil(page.items, last)) : page.items;
    learnDensity(state, { items: end - at, keys: inside.length });
    state.tally.destinationSeen += inside.length;
    const matcher = createPageMatcher(inside, state);
    const { extras, pairs } = matcher.match(items.slice(at, end));
    await give({ pairs, extras: [...extras, ...matcher.rest()] });
    if (isDone) return;
    at = end;
    after = pageEnd;
  }
}

/** The index of the first item whose path is after `end`. */
function countUntil(items: readonly TreeItem[], end: string, from = 0): number {
  return firstIndexWhere(items, from, ({ path }) => comparePaths(path, end) > 0);
}
