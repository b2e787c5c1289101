/**
 * How many requests to have in flight, found out by trying.
 *
 * The limit climbs the hill of throughput, level by level. At each level the throughput comes from Little's law: with L requests in
 * flight all the time, work is done at L x (work of the requests) / (time that they took), counted over requests that started at this
 * level. This needs no stop-watch over bursts and no warm-up pause: one round of requests tells a level.
 *
 * - grow: double while at least half of the added concurrency turns into throughput; where nearly nothing does, step back.
 * - hold: now and then try a quarter more or a quarter less. More must pay; less must cost nothing, and then wins, because it
 *   means that requests only waited for each other (latency without gain).
 * - recover: after the remote asked for fewer requests (`retry: 'backoff'`, halved) or failed (`'retry'`, a quarter less), climb back in small
 *   steps to a little below where it happened. Failures of requests that started before the last cut tell nothing new.
 *
 * Levels are judged only by windows in which the limit was the bound; a caller with little to do never changes it.
 * For a fixed bound over a list of calls p-limit serves as well; this is for transfers, whose right bound nobody knows.
 */
import { DrayError, type RetryAdvice } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import type { Clock } from '../base/clock.ts';

export interface AdaptiveLimitOptions {
  readonly clock: Clock;
  readonly min?: number;
  readonly max?: number;
  readonly initial?: number;
  /** Keeps to this number (`--transfers`). */
  readonly fixed?: number | undefined;
}

export interface TaskOptions {
  /** What the request moves, so that large and small ones can be compared. */
  readonly bytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface AdaptiveLimit {
  /**
   * Runs the task when its turn comes: first come, first served. Passes its result or error on.
   * @throws DrayError `aborted` when the signal fires while it waits; a running task gets the signal and ends by itself.
   */
  run<T>(task: (signal?: AbortSignal) => Promise<T>, options: TaskOptions): Promise<T>;
  /** For the retry wrapper: a request failed that it will repeat, so that `run` does not see it. */
  report(advice: RetryAdvice): void;
  /** Requests that may be in flight now. */
  readonly current: number;
  stats(): AdaptiveLimitStats;
}

export interface AdaptiveLimitStats {
  readonly current: number;
  readonly inFlight: number;
  readonly highest: number;
  readonly completed: number;
  readonly failed: number;
  /** Times that the limit was cut because the remote asked for it or failed. */
  readonly cuts: number;
}

const DEFAULTS = { min: 2, max: 64, initial: 12 };

/** The work of a request besides its bytes: as much as moving so many. */
const REQUEST_WORK_BYTES = 64 * 1024;
/** Requests in a window, at least. */
const WINDOW_REQUESTS_MIN = 8;
/** The part of a window's requests that must have met a full house. */
const FULL_SHARE = 0.75;

/** The part of the added concurrency that must turn into throughput: to go on, and to stay. */
const PAYS = 0.5;
const PAYS_A_LITTLE = 0.15;
/** Throughput that a smaller limit may lose. */
const LESS_COSTS_NOTHING = 0.97;
/** A window this much below the level's usual throughput calls for a trial at once. */
const SUDDEN_DROP = 0.7;

const TRIAL_UP = 1.25;
const TRIAL_DOWN = 0.75;
/** Windows between trials: doubled after each that fails. */
const PATIENCE_MIN = 2;
const PATIENCE_MAX = 16;

const CUT_ON_BACKOFF = 0.5;
const CUT_ON_FAILURE = 0.75;
/** Recovery ends at this part of the limit that failed. */
const CEILING_SHARE = 0.8;
const RECOVERY_STEP = 0.1;
/** Each window, the memory of a level's throughput moves so far to the newest. */
const SMOOTHING = 0.3;

/** A level and the work per millisecond that it did. */
interface Level {
  readonly limit: number;
  readonly rate: number;
}

type Mode =
  | { readonly is: 'grow'; readonly from: Level | undefined }
  | { readonly is: 'hold'; readonly usual: Level | undefined; readonly windows: number }
  | { readonly is: 'trial'; readonly base: Level; readonly isRepeat: boolean }
  | { readonly is: 'recover'; readonly ceiling: number };

export function createAdaptiveLimit(options: AdaptiveLimitOptions): AdaptiveLimit {
  const { clock, fixed } = options;
  const budget = new Budget(fixed ?? options.initial ?? DEFAULTS.initial);
  const climb = createClimb({
    min: options.min ?? DEFAULTS.min,
    max: options.max ?? DEFAULTS.max,
    initial: options.initial ?? DEFAULTS.initial,
    setLimit: (limit) => budget.setLimit(limit),
  });
  let highest = budget.limit;
  let completed = 0;
  let failed = 0;

  const isAdaptive = fixed === undefined;

  return {
    run: async (task, { bytes, signal }) => {
      const permit = await budget.acquire(1, signal);
      const level = climb.level();
      const startMs = clock.monotonicMs();
      try {
        const result = await task(signal);
        completed += 1;
        if (isAdaptive) {
          const tookMs = Math.max(0.001, clock.monotonicMs() - startMs);
          climb.complete({
            level,
            tookMs,
            work: bytes + REQUEST_WORK_BYTES,
            isFull: budget.used >= budget.limit,
          });
          highest = Math.max(highest, budget.limit);
        }
        return result;
      } catch (error) {
        failed += 1;
        const advice = error instanceof DrayError ? error.retry : 'no';
        if (isAdaptive && advice !== 'no') climb.fail(advice, level);
        throw error;
      } finally {
        permit.release();
      }
    },
    report: (advice) => {
      if (isAdaptive && advice !== 'no') climb.report(advice);
    },
    get current() {
      return budget.limit;
    },
    stats: () => ({
      current: budget.limit,
      inFlight: budget.used,
      highest,
      completed,
      failed,
      cuts: climb.cuts(),
    }),
  };
}

interface Completion {
  /** The level at which the request started. */
  readonly level: number;
  readonly tookMs: number;
  readonly work: number;
  /** The limit was reached when it ended. */
  readonly isFull: boolean;
}

interface Climb {
  /** Counts the changes of the limit; a request belongs to the level at which it started. */
  level(): number;
  complete(completion: Completion): void;
  fail(advice: 'retry' | 'backoff', level: number): void;
  /** A failure of a request whose level is not known. */
  report(advice: 'retry' | 'backoff'): void;
  cuts(): number;
}

function createClimb(options: {
  readonly min: number;
  readonly max: number;
  readonly initial: number;
  readonly setLimit: (limit: number) => void;
}): Climb {
  const clamp = (limit: number) => Math.min(options.max, Math.max(options.min, Math.round(limit)));
  let limit = clamp(options.initial);
  let mode: Mode = { is: 'grow', from: undefined };
  let level = 0;
  let lastCutLevel = -1;
  let cuts = 0;
  /** Reports that may still be of requests from before the last cut. */
  let reportsIgnored = 0;
  let patience = PATIENCE_MIN;
  let isNextTrialUp = true;
  let requests = 0;
  let full = 0;
  let work = 0;
  let spentMs = 0;

  const openWindow = () => {
    requests = 0;
    full = 0;
    work = 0;
    spentMs = 0;
  };

  const moveTo = (next: number, nextMode: Mode) => {
    mode = nextMode;
    openWindow();
    if (clamp(next) === limit) return;
    limit = clamp(next);
    level += 1;
    options.setLimit(limit);
  };

  const hold = (at: number, usual: Level | undefined) => moveTo(at, { is: 'hold', usual, windows: 0 });

  const judge = (rate: number) => {
    const here = { limit, rate };
    switch (mode.is) {
      case 'grow': {
        const pay = mode.from === undefined ? 1 : payOf(mode.from, here);
        if (pay >= PAYS && limit < options.max) return moveTo(limit * 2, { is: 'grow', from: here });
        if (pay >= PAYS_A_LITTLE || mode.from === undefined) return hold(limit, here);
        return hold(mode.from.limit, mode.from);
      }
      case 'trial':
        return judgeTrial(mode.base, here, mode.isRepeat);
      case 'hold':
        return judgeHold(mode, here);
      case 'recover': {
        if (limit >= Math.min(mode.ceiling, options.max)) return hold(limit, here);
        const step = Math.max(1, Math.round(limit * RECOVERY_STEP));
        return moveTo(Math.min(mode.ceiling, limit + step), mode);
      }
    }
  };

  const judgeTrial = (base: Level, here: Level, isRepeat: boolean) => {
    const isUp = here.limit > base.limit;
    const isBetter = isUp ? payOf(base, here) >= PAYS : here.rate >= base.rate * LESS_COSTS_NOTHING;
    if (!isBetter) {
      patience = Math.min(PATIENCE_MAX, patience * 2);
      isNextTrialUp = !isUp;
      return hold(base.limit, base);
    }
    patience = PATIENCE_MIN;
    isNextTrialUp = isUp;
    // Two steps up that paid: the link has room again.
    if (isUp && isRepeat) return moveTo(here.limit * 2, { is: 'grow', from: here });
    // A smaller limit must keep up with the larger one's throughput, or many small losses would add up.
    return tryNext(isUp ? here : { limit: here.limit, rate: Math.max(here.rate, base.rate) }, true);
  };

  const judgeHold = (held: Mode & { readonly is: 'hold' }, here: Level) => {
    const usual = held.usual;
    const rate = usual === undefined ? here.rate : usual.rate + SMOOTHING * (here.rate - usual.rate);
    const next = { limit, rate };
    const hasDropped = usual !== undefined && here.rate < usual.rate * SUDDEN_DROP;
    if (hasDropped) {
      isNextTrialUp = false;
      return tryNext(here, false);
    }
    if (held.windows + 1 >= patience) return tryNext(next, false);
    moveTo(limit, { is: 'hold', usual: next, windows: held.windows + 1 });
  };

  /** Tries a neighbour of the level; at the edge of what is allowed, the other one. */
  const tryNext = (base: Level, isRepeat: boolean) => {
    const up = clamp(Math.max(base.limit + 1, base.limit * TRIAL_UP));
    const down = clamp(Math.min(base.limit - 1, base.limit * TRIAL_DOWN));
    const canGoUp = up > base.limit;
    const canGoDown = down < base.limit;
    if (isRepeat && !(isNextTrialUp ? canGoUp : canGoDown)) {
      isNextTrialUp = !isNextTrialUp;
      return hold(base.limit, base);
    }
    if (!canGoUp && !canGoDown) return hold(base.limit, base);
    const goesUp = isNextTrialUp ? canGoUp : !canGoDown;
    moveTo(goesUp ? up : down, { is: 'trial', base, isRepeat });
  };

  const cut = (advice: 'retry' | 'backoff') => {
    lastCutLevel = level;
    // Each request in flight may tell once of the same congestion.
    reportsIgnored = limit;
    cuts += 1;
    patience = Math.min(PATIENCE_MAX, patience * 2);
    isNextTrialUp = false;
    const ceiling = Math.max(options.min, Math.floor(limit * CEILING_SHARE));
    moveTo(limit * (advice === 'backoff' ? CUT_ON_BACKOFF : CUT_ON_FAILURE), { is: 'recover', ceiling });
  };

  return {
    level: () => level,
    cuts: () => cuts,
    complete: (completion) => {
      // It started after the last cut and went well: what fails from now on is news.
      if (completion.level > lastCutLevel) reportsIgnored = 0;
      if (completion.level !== level) return;
      requests += 1;
      full += completion.isFull ? 1 : 0;
      work += completion.work;
      spentMs += completion.tookMs;
      if (requests < Math.max(WINDOW_REQUESTS_MIN, limit)) return;
      if (full < requests * FULL_SHARE) openWindow();
      else judge((limit * work) / spentMs);
    },
    fail: (advice, failedLevel) => {
      if (failedLevel > lastCutLevel) cut(advice);
    },
    report: (advice) => {
      reportsIgnored -= 1;
      if (reportsIgnored < 0) cut(advice);
    },
  };
}

/** The part of the change in concurrency that turned into throughput: 1 when it scales, 0 when it changes nothing. */
function payOf(from: Level, to: Level): number {
  if (to.limit === from.limit) return 1;
  return (to.rate / from.rate - 1) / (to.limit / from.limit - 1);
}
