/**
 * Finds by trial how many requests to have in flight.
 *
 * It starts as TCP does, with more after each answer until answers queue (slow-start.ts). From there the
 * limit climbs the hill of throughput level by level (climb.ts has the rules). Each level's throughput
 * follows from Little's law: with L requests in flight all the time, work is done at L x (work of the
 * requests) / (their time), counted over requests that started at this level. This needs no timing of bursts
 * and no warm-up: one round of requests measures a level. A window in which the limit was not the bound
 * measures nothing, so a caller with little work never changes it.
 *
 * For a fixed bound over a list of calls, use p-limit; this is for transfers, whose best bound is unknown.
 */
import { DrayError, type RetryAdvice } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import type { Clock } from '../../base/clock.ts';
import { type ClimbBounds, type ClimbState, climbDown, climbOn, settleAt, startClimb } from './climb.ts';
import { SLOW_START, type SlowStart, slowStartOn } from './slow-start.ts';

export interface AdaptiveLimitOptions {
  readonly clock: Clock;
  readonly min?: number;
  readonly max?: number;
  readonly initial?: number;
  /**
   * How long this thread has been idle, since any time. Absent, or 0 as Node says where it measures none (in
   * Electron's main and utility processes): it always has idle time.
   */
  readonly idleMs?: () => number;
  /** A fixed limit (`--transfers`). */
  readonly fixed?: number | undefined;
}

export interface TaskOptions {
  /** The request's bytes, so that large and small requests can be compared. */
  readonly bytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface AdaptiveLimit {
  /**
   * Runs the task when its turn comes: first come, first served. Passes on its result or error.
   * @throws DrayError `aborted` when the signal fires while it waits; a running task gets the signal and ends
   * by itself.
   */
  run<T>(task: (signal?: AbortSignal) => Promise<T>, options: TaskOptions): Promise<T>;
  /** For the retry wrapper: a request failed that it will repeat, so that `run` does not see the failure. */
  report(advice: RetryAdvice): void;
  /** The fixed limit, if one was given. */
  readonly fixed: number | undefined;
  /** The current limit of requests in flight. */
  readonly current: number;
  stats(): AdaptiveLimitStats;
}

export interface AdaptiveLimitStats {
  readonly current: number;
  readonly inFlight: number;
  readonly highest: number;
  readonly completed: number;
  readonly failed: number;
  /** How often the limit was cut because the remote asked for it or failed. */
  readonly cuts: number;
}

const DEFAULTS = { min: 2, max: 64, initial: 12 };

/** The work of a request besides its bytes, expressed in bytes. */
const REQUEST_WORK_BYTES = 64 * 1024;
/** The fewest requests in a window. */
const WINDOW_REQUESTS_MIN = 8;
/**
 * The shortest window. Eight small requests take about 5 ms, in which a server's pause decides everything:
 * with such windows the limit fell to 2, and 10,000 objects of 1 KiB took twice as long.
 */
const WINDOW_MS_MIN = 100;
/**
 * This many small requests in flight are always fine: they cost the remote nothing and keep its disk and
 * processors busy. Large ones take memory here and can go below.
 */
const SMALL_REQUESTS = 16;
/** The share of a window's requests that must have ended at the limit. */
const FULL_SHARE = 0.75;
/** Small requests that take at most this many times the minimum have not queued. */
const NO_QUEUE = 1.25;
/** The share of its time that this thread must be idle before it handles more answers. */
const IDLE_SHARE_MIN = 0.25;

export function createAdaptiveLimit(options: AdaptiveLimitOptions): AdaptiveLimit {
  const { clock, fixed } = options;
  const initial = fixed ?? options.initial ?? DEFAULTS.initial;
  const bounds =
    fixed === undefined
      ? { min: options.min ?? DEFAULTS.min, max: options.max ?? DEFAULTS.max }
      : { min: fixed, max: fixed };
  const budget = new Budget(initial);
  const hasIdleTime = watchIdleTime(options);
  const climber = createClimber({ bounds, initial, setLimit: (limit) => budget.setLimit(limit) });
  let highest = budget.limit;
  let completed = 0;
  let failed = 0;

  return {
    run: async (task, { bytes, signal }) => {
      const permit = await budget.acquire(1, signal);
      const level = climber.level();
      const startMs = clock.monotonicMs();
      try {
        const result = await task(signal);
        completed += 1;
        const endMs = clock.monotonicMs();
        const tookMs = Math.max(0.001, endMs - startMs);
        climber.complete({
          level,
          tookMs,
          endMs,
          work: bytes + REQUEST_WORK_BYTES,
          isLarge: bytes > REQUEST_WORK_BYTES,
          isFull: budget.used >= budget.limit,
          hasIdleTime,
        });
        highest = Math.max(highest, budget.limit);
        return result;
      } catch (error) {
        failed += 1;
        if (error instanceof DrayError && error.retry !== 'no') climber.fail(error.retry, level);
        throw error;
      } finally {
        permit.release();
      }
    },
    report: (advice) => {
      if (advice !== 'no') climber.report(advice);
    },
    fixed: options.fixed,
    get current() {
      return budget.limit;
    },
    stats: () => ({
      current: budget.limit,
      inFlight: budget.used,
      highest,
      completed,
      failed,
      cuts: climber.cuts(),
    }),
  };
}

/** Looks back over the given time, or slightly more. */
function watchIdleTime({ clock, idleMs }: AdaptiveLimitOptions): (overMs: number) => boolean {
  if (!idleMs) return () => true;
  const mark = () => ({ atMs: clock.monotonicMs(), idleMs: idleMs() });
  let before = mark();
  let since = before;
  return (overMs) => {
    const now = mark();
    if (now.atMs - since.atMs >= overMs) {
      before = since;
      since = now;
    }
    const passedMs = now.atMs - before.atMs;
    return now.idleMs === 0 || now.idleMs - before.idleMs >= IDLE_SHARE_MIN * passedMs;
  };
}

interface Completion {
  /** The level at which the request started. */
  readonly level: number;
  readonly tookMs: number;
  readonly endMs: number;
  readonly work: number;
  /** Most of its work is its bytes. */
  readonly isLarge: boolean;
  /** The limit was reached when it ended. */
  readonly isFull: boolean;
  /** Over about the time that the request took. */
  readonly hasIdleTime: (tookMs: number) => boolean;
}

interface Climber {
  /** Counts the changes of the limit; a request belongs to the level at which it started. */
  level(): number;
  complete(completion: Completion): void;
  fail(advice: 'retry' | 'backoff', level: number): void;
  /** A failure of a request whose level is unknown. */
  report(advice: 'retry' | 'backoff'): void;
  cuts(): number;
}

const EMPTY_WINDOW = { startMs: 0, requests: 0, full: 0, large: 0, work: 0, spentMs: 0 };
type Window = Readonly<typeof EMPTY_WINDOW>;

function addTo(window: Window, { endMs, isFull, isLarge, tookMs, work }: Completion): Window {
  return {
    startMs: window.requests === 0 ? endMs - tookMs : window.startMs,
    requests: window.requests + 1,
    full: window.full + (isFull ? 1 : 0),
    large: window.large + (isLarge ? 1 : 0),
    work: window.work + work,
    spentMs: window.spentMs + tookMs,
  };
}

function isLongEnough({ requests, startMs }: Window, endMs: number, limit: number): boolean {
  return requests >= Math.max(WINDOW_REQUESTS_MIN, limit) && endMs - startMs >= WINDOW_MS_MIN;
}

/** Decides which failures are new, so that one congestion cuts the limit once. */
function createFailureNews() {
  let lastCutLevel = -1;
  let cuts = 0;
  /** Reports that may still belong to requests from before the last cut. */
  let reportsIgnored = 0;
  return {
    cuts: () => cuts,
    noteCut(level: number, inFlightMax: number): void {
      lastCutLevel = level;
      // Each request in flight may report the same congestion once.
      reportsIgnored = inFlightMax;
      cuts += 1;
    },
    noteSuccess(level: number): void {
      // It started after the last cut and succeeded: later failures are new.
      if (level > lastCutLevel) reportsIgnored = 0;
    },
    /** Requests that started before the last cut show nothing new. */
    isNewAt: (level: number) => level > lastCutLevel,
    isNewReport(): boolean {
      reportsIgnored -= 1;
      return reportsIgnored < 0;
    },
  };
}

/**
 * Gets each completed request: grows with the answers at first, then collects them into windows and moves the
 * limit after each.
 */
function createClimber(options: {
  readonly bounds: ClimbBounds;
  readonly initial: number;
  readonly setLimit: (limit: number) => void;
}): Climber {
  const { bounds } = options;
  let state = startClimb(options.initial, bounds);
  let start: SlowStart | undefined = bounds.min === bounds.max ? undefined : SLOW_START;
  let window: Window = EMPTY_WINDOW;
  /** The least time of a small request: the round trip. */
  let leastMs = Number.POSITIVE_INFINITY;
  let level = 0;
  const news = createFailureNews();

  const moveTo = (next: ClimbState) => {
    window = EMPTY_WINDOW;
    if (next.limit !== state.limit) {
      level += 1;
      options.setLimit(next.limit);
    }
    state = next;
  };

  const settle = () => {
    start = undefined;
    // Requests in flight started under a smaller limit, and belong to no window.
    level += 1;
    state = settleAt(state.limit);
  };

  const grow = (completion: Completion, going: SlowStart) => {
    const answer = { ...completion, hasIdleTime: completion.hasIdleTime(completion.tookMs) };
    const step = slowStartOn(going, answer, state.limit);
    switch (step.is) {
      case 'queue':
        settle();
        return;
      case 'large':
        start = undefined;
        state = startClimb(state.limit, bounds);
        return;
      case 'going': {
        start = step.start;
        const limit = Math.min(bounds.max, state.limit + step.more);
        if (limit === state.limit) return;
        state = { ...state, limit };
        options.setLimit(limit);
        if (limit === bounds.max) settle();
      }
    }
  };

  const cut = (advice: 'retry' | 'backoff') => {
    start = undefined;
    news.noteCut(level, state.limit);
    moveTo(climbDown(state, advice, bounds));
  };

  return {
    level: () => level,
    cuts: news.cuts,
    complete: (completion) => {
      if (!completion.isLarge) leastMs = Math.min(leastMs, completion.tookMs);
      news.noteSuccess(completion.level);
      if (completion.level !== level) return;
      if (start) {
        grow(completion, start);
        return;
      }
      window = addTo(window, completion);
      if (!isLongEnough(window, completion.endMs, state.limit)) return;
      const { full, large, requests, spentMs, work } = window;
      if (full < requests * FULL_SHARE) window = EMPTY_WINDOW;
      else {
        const hasQueue = large > 0 || spentMs / requests > NO_QUEUE * leastMs;
        const within = large > 0 ? bounds : { ...bounds, enough: Math.min(bounds.max, SMALL_REQUESTS) };
        moveTo(climbOn(state, { rate: (state.limit * work) / spentMs, hasQueue }, within));
      }
    },
    fail: (advice, failedLevel) => {
      if (news.isNewAt(failedLevel)) cut(advice);
    },
    report: (advice) => {
      if (news.isNewReport()) cut(advice);
    },
  };
}
