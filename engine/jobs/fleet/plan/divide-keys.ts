/**
 * Divides the keys of one or two stores into ranges of about equal numbers, without listing them all.
 *
 * A *gap* is a stretch of the key space of which the first page is known. The page's share of the gap
 * (`key-measure.ts`) gives an estimate of its keys. The gaps with the most keys are cut in their middle,
 * repeatedly: each cut reads one page of each store. If nothing lies above the middle, the gap only becomes
 * smaller. A wrong estimate costs little: one range lists for longer than others.
 */
import { comparePaths } from '../../../model/entry.ts';
import { afterPrefix, keyBetween } from './key-between.ts';
import { createKeyMeasure, type KeyMeasure } from './key-measure.ts';

/** The keys after `after` of one store, in order: the first page. */
export type ReadKeys = (
  after: string | undefined,
) => Promise<{ readonly keys: readonly string[]; readonly isLast: boolean }>;

export interface DivideOptions {
  readonly stores: readonly ReadKeys[];
  readonly rangesWanted: number;
  /** The fewest keys of a range; a small store gets fewer ranges. */
  readonly keysInRangeMin: number;
}

export interface DividedKeys {
  /** Range 0 ends with the first of these keys, inclusive; there is one range more than splits. */
  readonly splits: string[];
  readonly estimatedKeys: number;
}

/** Each range is made of about this many gaps, so that ranges are more equal than gaps. */
const GAPS_IN_RANGE = 4;
/** Even with enough gaps, a gap this many times too wide is still cut. */
const MUCH_TOO_WIDE = 4;
/** Gaps that are cut at the same time. */
const CUTS_AT_ONCE = 8;
/** With fewer gaps, estimates are not reliable yet: all gaps are cut, so that the measure learns. */
const GAPS_MIN = 24;
/** With this many gaps, a store that still wants one range is small, and is not cut further. */
const GAPS_OF_SMALL = 8;
/** Pages read of a store: this many and a tenth of a full listing, but at most a bound for each range. */
const PAGES_FREE = 64;
const KEYS_FOR_PAGE = 10_000;
const PAGES_IN_RANGE_MAX = 16;
/** After this many cuts that only shortened a gap, the common beginning of its keys is looked up. */
const EMPTY_CUTS_MAX = 3;

interface Sample {
  /** The index of the store. */
  readonly store: number;
  readonly keys: number;
  readonly first: string;
  readonly last: string;
  /** The page showed all keys of the gap. */
  readonly isWhole: boolean;
}

interface Gap {
  readonly after: string | undefined;
  upTo: string | undefined;
  readonly samples: readonly Sample[];
  emptyCuts: number;
  isFinal: boolean;
}

interface Work extends DivideOptions {
  readonly measure: KeyMeasure;
  /** Pages read so far, of each store. */
  readonly counts: { pages: number };
}

export async function divideKeys(options: DivideOptions): Promise<DividedKeys> {
  const work = { ...options, measure: createKeyMeasure(), counts: { pages: 0 } };
  const keysIn = (gap: Gap) =>
    gap.samples.reduce((sum, sample) => sum + keysOf(work.measure, sample, gap), 0);
  const whole = await readGap(work, undefined, undefined);
  if (!whole.isFinal && options.rangesWanted > 1) await learnSeam(work, whole);
  let gaps: readonly Gap[] = [whole];
  for (;;) {
    const sizes = new Map(gaps.map((gap) => [gap, keysIn(gap)]));
    const widest = gapsToCut(work, sizes);
    if (widest.length === 0) break;
    const cut = new Map(
      await Promise.all(widest.map(async (gap) => [gap, await cutGap(work, gap)] as const)),
    );
    gaps = gaps.flatMap((gap) => cut.get(gap) ?? [gap]);
  }
  return splitsBetween(work, new Map(gaps.map((gap) => [gap, keysIn(gap)])));
}

/** Gaps and their keys, in order. */
type Sizes = ReadonlyMap<Gap, number>;

function total(sizes: Sizes): number {
  return [...sizes.values()].reduce((sum, keys) => sum + keys, 0);
}

/** The widest first. */
function gapsToCut(work: Work, sizes: Sizes): readonly Gap[] {
  const keys = total(sizes);
  const pagesMax = Math.min(PAGES_FREE + keys / KEYS_FOR_PAGE, work.rangesWanted * PAGES_IN_RANGE_MAX);
  if (work.counts.pages >= pagesMax) return [];
  const isEarly = sizes.size < GAPS_MIN;
  const wanted = rangesFor(work, keys) * GAPS_IN_RANGE;
  const isEnough = !isEarly && sizes.size >= wanted;
  if (work.rangesWanted === 1 || (sizes.size >= GAPS_OF_SMALL && wanted === GAPS_IN_RANGE)) return [];
  return [...sizes]
    .filter(
      ([gap, own]) => !gap.isFinal && (isEarly || own > (isEnough ? MUCH_TOO_WIDE : 1) * (keys / wanted)),
    )
    .sort(([, left], [, right]) => right - left)
    .slice(0, CUTS_AT_ONCE)
    .map(([gap]) => gap);
}

function rangesFor({ keysInRangeMin, rangesWanted }: DivideOptions, keys: number): number {
  return Math.max(1, Math.min(rangesWanted, Math.floor(keys / keysInRangeMin)));
}

/** A gap may have become smaller since its page was read. */
function keysOf(
  measure: KeyMeasure,
  { first, isWhole, keys, last }: Sample,
  { upTo }: Pick<Gap, 'upTo'>,
): number {
  if (upTo !== undefined && comparePaths(first, upTo) > 0) return 0;
  if (upTo !== undefined && comparePaths(last, upTo) > 0) return keys * measure.shareUpTo(first, upTo, last);
  if (isWhole) return keys;
  // No estimate may swallow all others: a page is at least a billionth of its gap.
  return keys / Math.max(1e-9, measure.shareUpTo(first, last, upTo));
}

async function readGap(
  { counts, measure, stores }: Work,
  after: string | undefined,
  upTo: string | undefined,
): Promise<Gap> {
  counts.pages += 1;
  const pages = await Promise.all(stores.map((read) => read(after)));
  const samples = pages.flatMap(({ isLast, keys }, store) => {
    const inside = upTo === undefined ? keys : keys.filter((key) => comparePaths(key, upTo) <= 0);
    const isWhole = isLast || inside.length < keys.length;
    measure.learn(inside);
    if (inside.length === 0) return [];
    return [{ store, keys: inside.length, first: inside[0]!, last: inside.at(-1)!, isWhole }];
  });
  return { after, upTo, samples, emptyCuts: 0, isFinal: samples.every(({ isWhole }) => isWhole) };
}

/**
 * A page that ends with a folder does not show where the names in a folder end: digits that are always zero
 * would count as ten each. The second page behind the first one shows it.
 */
async function learnSeam({ counts, measure, stores }: Work, { samples }: Gap): Promise<void> {
  counts.pages += 1;
  await Promise.all(
    samples.map(async ({ isWhole, last, store }) => {
      if (!isWhole) measure.learn([last, ...(await stores[store]!(last)).keys]);
    }),
  );
}

async function cutGap(work: Work, gap: Gap): Promise<readonly Gap[]> {
  const low = lowestEnd(gap);
  const middle = low === undefined ? undefined : keyBetween(low, gap.upTo);
  if (low === undefined || middle === undefined) return [{ ...gap, isFinal: true }];
  const upper = await readGap(work, middle, gap.upTo);
  if (upper.samples.length > 0) return [{ ...gap, upTo: middle, emptyCuts: 0 }, upper];
  const shorter = { ...gap, upTo: middle, emptyCuts: gap.emptyCuts + 1 };
  return [shorter.emptyCuts < EMPTY_CUTS_MAX ? shorter : await withoutEmptyEnd(work, shorter, low)];
}

/** The smallest key up to which some store's page shows all keys. */
function lowestEnd({ samples, upTo }: Gap): string | undefined {
  return samples
    .filter(({ isWhole, last }) => !isWhole && (upTo === undefined || comparePaths(last, upTo) < 0))
    .map(({ last }) => last)
    .sort(comparePaths)[0];
}

/** Ends the gap behind the longest beginning of `low` that all its later keys have. */
async function withoutEmptyEnd(work: Work, gap: Gap, low: string): Promise<Gap> {
  const letters = [...low];
  const end = (length: number) => afterPrefix(letters.slice(0, length).join(''));
  let shared = 0;
  let other = letters.length + 1;
  while (other - shared > 1) {
    const length = Math.floor((shared + other) / 2);
    const isInside = gap.upTo === undefined || comparePaths(end(length), gap.upTo) < 0;
    const isShared = !isInside || (await readGap(work, end(length), gap.upTo)).samples.length === 0;
    if (isShared) shared = length;
    else other = length;
  }
  const upTo = end(shared);
  const isShorter = gap.upTo === undefined || comparePaths(upTo, gap.upTo) < 0;
  return { ...gap, emptyCuts: 0, ...(isShorter ? { upTo } : {}) };
}

function splitsBetween(work: Work, sizes: Sizes): DividedKeys {
  const keys = total(sizes);
  const inRange = keys / rangesFor(work, keys);
  const splits: string[] = [];
  let before = 0;
  for (const [gap, own] of sizes) {
    // A gap begins where the one before it ends.
    if (gap.after !== undefined && before >= inRange * (splits.length + 1)) splits.push(gap.after);
    before += own;
  }
  return { splits, estimatedKeys: Math.round(keys) };
}
