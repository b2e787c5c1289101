/**
 * Decides which kind of query costs less. Pure.
 *
 * Both kinds are compared in dollars. The cost has three parts: the store's prices, a small cost of every
 * request whatever its price (rate limits, other clients of the store), and the value of waiting beyond an
 * unnoticeable time. There is no constant break-even: it follows from this remote's latencies and prices and
 * from the number of candidates.
 */
import type { QueryCost, QueryMode } from '../../api/events.ts';
import { formatCount } from '../../api/text/numbers.ts';
import type { ObjectEstimate, RemoteEstimate } from './estimate-objects.ts';

export interface CostModel {
  /** Latency of one HEAD and of one full listing page, measured on this remote or a first guess. */
  readonly headMs: number;
  readonly listMs: number;
  /** Requests in flight. */
  readonly concurrency: number;
  readonly dollarsPerHead: number;
  readonly dollarsPerList: number;
  /** The cost of any request beyond its price. Above 0. */
  readonly dollarsPerRequest: number;
  /** The cost of a second of waiting beyond `patienceSeconds`. */
  readonly dollarsPerSecond: number;
  readonly patienceSeconds: number;
}

/**
 * For an unknown remote. Latencies of a cloud store in a near region, prices of S3 Standard; two dollars per
 * million requests, five times S3's price of a HEAD; about seven dollars per hour of waiting, the rent of a
 * large machine.
 */
export const DEFAULT_COSTS: CostModel = {
  headMs: 30,
  listMs: 100,
  concurrency: 64,
  dollarsPerHead: 0.4e-6,
  dollarsPerList: 5e-6,
  dollarsPerRequest: 2e-6,
  dollarsPerSecond: 0.002,
  patienceSeconds: 2,
};

/** The most keys in a listing page. */
export const PAGE_OBJECTS = 1_000;

/**
 * Objects in a page on average: ranges are cut slightly below a page, because a range that overflows by one
 * object costs a second page.
 */
const PAGE_FILL = 920;

/** Below the cost of this many listing pages, sampling does not pay. */
const FEW_PAGES = 4;
/** How much a remembered remote may have grown or shrunk. */
const MEMORY_FACTOR = 4;
/** The most windows that are sampled. */
export const WINDOWS_MAX = 8;
/** Windows in the second round, which also shows whether hashes are spread evenly. */
const SECOND_ROUND = 3;
/** The second round is taken when the remaining cost exceeds this many pages: it adds at most a tenth. */
const SECOND_ROUND_PAGES = 30;
/** A rough probability that the true size is at the interval's far end. */
const FAR_END_CHANCE = 0.25;

export interface PlanInput {
  /** Hashes without an answer. */
  readonly candidates: number;
  readonly mode: QueryMode;
  readonly costs: CostModel;
  /** An estimate from windows sampled in this query, or a remembered one (then `windows` is 0). */
  readonly remote?: RemoteEstimate | ObjectEstimate | undefined;
  /** Windows sampled so far; each is a page that a listing need not fetch again. */
  readonly windows: number;
}

export interface QueryPlan {
  /** The whole cost of either way from the start. */
  readonly each: QueryCost;
  readonly list: QueryCost;
  /** With fewer objects than this on the remote, listing costs less. */
  readonly breakEvenObjects: number;
  readonly choice: 'each' | 'list';
  /** Windows to sample at once before the choice is final; 0: it is final. */
  readonly samples: number;
  /** One sentence for users. */
  readonly reason: string;
}

export function planQuery(input: PlanInput): QueryPlan {
  const { candidates, costs, mode, remote, windows } = input;
  const each = eachCost(candidates, costs);
  const list = listCost(remote?.objects ?? 0, costs);
  const breakEvenObjects = breakEven(each, costs);
  const shared = { each, list, breakEvenObjects };

  if (mode === 'each')
    return { ...shared, choice: 'each', samples: 0, reason: 'Asked one by one on request.' };
  if (mode === 'list') {
    return { ...shared, choice: 'list', samples: windows === 0 ? 1 : 0, reason: 'Listed on request.' };
  }
  if (windows === 0) return { ...shared, ...planUnsampled(input, breakEvenObjects) };
  if (remote === undefined) throw new Error('A sampled plan needs its estimate.');
  const chosen = cheaperFrom(input, remote.objects);
  return {
    ...shared,
    choice: chosen,
    samples: samplesWorthTaking(input, remote, chosen),
    reason: reasonFor(input, remote, chosen),
  };
}

/** The cost in dollars. */
export function weigh(cost: QueryCost, costs: CostModel): number {
  const waitedSeconds = Math.max(0, cost.seconds - costs.patienceSeconds);
  return cost.dollars + cost.requests * costs.dollarsPerRequest + waitedSeconds * costs.dollarsPerSecond;
}

export function eachCost(candidates: number, costs: CostModel): QueryCost {
  return costOf(Math.ceil(candidates), costs.headMs, costs.dollarsPerHead, costs.concurrency);
}

/** @param objects On the remote; listing an empty one is a request too. */
export function listCost(objects: number, costs: CostModel): QueryCost {
  return pagesCost(pagesOf(objects), costs);
}

/** Whether asking each candidate costs no more than sampling could save. */
export function isFew(candidates: number, costs: CostModel): boolean {
  return weigh(eachCost(candidates, costs), costs) <= weigh(pagesCost(FEW_PAGES, costs), costs);
}

/** The pages of a listing in concurrent ranges. */
function pagesOf(objects: number): number {
  return 1 + Math.ceil(Math.max(0, objects - PAGE_OBJECTS) / PAGE_FILL);
}

function pagesCost(pages: number, costs: CostModel): QueryCost {
  return costOf(pages, costs.listMs, costs.dollarsPerList, costs.concurrency);
}

function costOf(requests: number, latencyMs: number, dollarsEach: number, concurrency: number): QueryCost {
  const rounds = requests === 0 ? 0 : Math.max(1, requests / concurrency);
  return { requests, seconds: (rounds * latencyMs) / 1_000, dollars: requests * dollarsEach };
}

/** The largest remote, in objects, for which listing costs no more than asking each. */
function breakEven(each: QueryCost, costs: CostModel): number {
  const bound = weigh(each, costs);
  const fits = (pages: number) => weigh(pagesCost(pages, costs), costs) <= bound;
  if (!fits(1)) return 0;
  // Every page costs something, so the doubling ends.
  let over = 2;
  while (fits(over)) over *= 2;
  let under = over / 2;
  while (over - under > 1) {
    const middle = Math.floor((under + over) / 2);
    if (fits(middle)) under = middle;
    else over = middle;
  }
  return PAGE_OBJECTS + (under - 1) * PAGE_FILL;
}

/** The choice before any window was sampled: by the number of candidates, or by the remembered size. */
function planUnsampled(
  input: PlanInput,
  breakEvenObjects: number,
): { readonly choice: 'each' | 'list'; readonly samples: number; readonly reason: string } {
  const { candidates, costs, remote } = input;
  if (isFew(candidates, costs)) {
    const what = candidates === 1 ? 'One candidate is' : `${formatCount(candidates)} candidates are`;
    return {
      choice: 'each',
      samples: 0,
      reason: `${what} so few that asking for each costs less than sampling.`,
    };
  }
  if (remote !== undefined && remote.low / MEMORY_FACTOR > breakEvenObjects) {
    const reason =
      `The remote held about ${formatCount(remote.objects)} objects when last sampled, ` +
      `far above the break-even of ${formatCount(breakEvenObjects)}.`;
    return { choice: 'each', samples: 0, reason };
  }
  // If the remembered size suggests listing, the sample is the listing's first page and costs nothing extra.
  const choice = remote !== undefined && remote.objects <= breakEvenObjects ? 'list' : 'each';
  return { choice, samples: 1, reason: 'The remote is sampled first.' };
}

/** The cheaper way from here: sampled windows are paid for and answer their share of the candidates. */
function cheaperFrom(input: PlanInput, objects: number): 'each' | 'list' {
  return remainingWeight(input, objects, 'list') <= remainingWeight(input, objects, 'each') ? 'list' : 'each';
}

function remainingWeight(input: PlanInput, objects: number, way: 'each' | 'list'): number {
  const { candidates, costs, windows } = input;
  if (way === 'list') {
    const pages = Math.max(0, pagesOf(objects) - windows);
    return weigh(pagesCost(pages, costs), costs);
  }
  const answeredShare = Math.min(1, (windows * PAGE_OBJECTS) / Math.max(1, objects));
  return weigh(eachCost(candidates * (1 - answeredShare), costs), costs);
}

/** More windows are worth their cost when they may save more. */
function samplesWorthTaking(
  input: PlanInput,
  remote: RemoteEstimate | ObjectEstimate,
  chosen: 'each' | 'list',
): number {
  const { costs, windows } = input;
  if ('isExact' in remote && remote.isExact) return 0;
  const pageWeight = weigh(pagesCost(1, costs), costs);
  const ahead = remainingWeight(input, remote.objects, chosen);
  if (windows < 1 + SECOND_ROUND && ahead > SECOND_ROUND_PAGES * pageWeight)
    return 1 + SECOND_ROUND - windows;
  const atRisk = regret(input, remote, chosen);
  if (atRisk === 0) return 0;
  const next = Math.min(SECOND_ROUND, WINDOWS_MAX - windows);
  return atRisk * FAR_END_CHANCE > next * pageWeight ? next : 0;
}

/** The loss of the choice if the true size is at the unfavorable end of the interval. */
function regret(input: PlanInput, remote: RemoteEstimate, chosen: 'each' | 'list'): number {
  const worst = chosen === 'each' ? remote.low : remote.high;
  const other = chosen === 'each' ? 'list' : 'each';
  return Math.max(0, remainingWeight(input, worst, chosen) - remainingWeight(input, worst, other));
}

function reasonFor(
  input: PlanInput,
  remote: RemoteEstimate | ObjectEstimate,
  chosen: 'each' | 'list',
): string {
  if ('isExact' in remote && remote.isExact) {
    return `The samples covered everything: the remote holds ${formatCount(remote.objects)} objects.`;
  }
  const pages = formatCount(pagesOf(remote.objects));
  const heads = formatCount(input.candidates);
  return chosen === 'list'
    ? `Listing about ${formatCount(remote.objects)} objects takes some ${pages} requests, ` +
        `which costs less than ${heads} questions.`
    : `Asking ${heads} questions costs less than listing about ${formatCount(remote.objects)} objects ` +
        `in some ${pages} requests.`;
}
