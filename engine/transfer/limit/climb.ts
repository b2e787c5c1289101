/**
 * The climb up the hill of throughput, as a pure state machine: a level's measured rate in, the next level
 * out.
 *
 * - grow: double while at least half of the added concurrency turns into throughput; when almost none does,
 *   step back.
 * - hold: sometimes try a quarter more or a quarter less. More must pay. Less must cost nothing, and then
 *   wins, because requests only waited for each other (latency without gain). When answers are as fast as
 *   ever, none waits for another: fewer gains nothing, and the number is doubled.
 * - recover: after the remote asked for fewer requests (halved) or failed (a quarter less), climb back in
 *   small steps to slightly below where it happened.
 */

export interface ClimbBounds {
  readonly min: number;
  readonly max: number;
  /** Fewer than this are not tried: nobody would gain. Refusals and failures still go below. */
  readonly enough?: number;
}

/** A limit and the work per millisecond under it. */
export interface Level {
  readonly limit: number;
  readonly rate: number;
}

export interface ClimbState {
  readonly limit: number;
  readonly mode: ClimbMode;
  /** Windows between trials: doubled after each failed one. */
  readonly patience: number;
  readonly isNextTrialUp: boolean;
  /** The remote has refused or failed: only small steps up from now on. */
  readonly isWary: boolean;
}

export type ClimbMode =
  | { readonly is: 'grow'; readonly from: Level | undefined }
  | { readonly is: 'hold'; readonly usual: Level | undefined; readonly windows: number }
  | { readonly is: 'trial'; readonly base: Level; readonly isRepeat: boolean }
  | { readonly is: 'recover'; readonly ceiling: number };

/** The share of the added concurrency that must turn into throughput: to go on, and to stay. */
const PAYS = 0.5;
const PAYS_A_LITTLE = 0.15;
/** The share of throughput that a smaller limit must keep. */
const COSTS_NOTHING = 0.97;
/** A window this far below the level's usual throughput causes a trial at once. */
const SUDDEN_DROP = 0.7;

const TRIAL_UP = 1.25;
const TRIAL_DOWN = 0.75;
const PATIENCE_MIN = 2;
const PATIENCE_MAX = 16;

const CUT_ON_BACKOFF = 0.5;
const CUT_ON_FAILURE = 0.75;
/** Recovery ends at this share of the limit that failed. */
const CEILING_SHARE = 0.8;
const RECOVERY_STEP = 0.1;
/** How far each window moves the average of a level's throughput towards the newest. */
const SMOOTHING = 0.3;

export function startClimb(initial: number, bounds: ClimbBounds): ClimbState {
  return {
    limit: clamp(initial, bounds),
    mode: { is: 'grow', from: undefined },
    patience: PATIENCE_MIN,
    isNextTrialUp: true,
    isWary: false,
  };
}

/** Begins without growth: this number is known to be enough, and the first trial is with fewer. */
export function settleAt(limit: number): ClimbState {
  return {
    limit,
    mode: { is: 'hold', usual: undefined, windows: 0 },
    patience: PATIENCE_MIN,
    isNextTrialUp: false,
    isWary: false,
  };
}

export interface Window {
  /** Work per millisecond. */
  readonly rate: number;
  /** Whether requests may have waited for each other. */
  readonly hasQueue: boolean;
}

/** The state after a window at `state.limit`. */
export function climbOn(state: ClimbState, { hasQueue, rate }: Window, bounds: ClimbBounds): ClimbState {
  const here = { limit: state.limit, rate };
  const { mode } = state;
  switch (mode.is) {
    case 'grow':
      return afterGrowth(state, mode.from, here, bounds);
    case 'trial':
      return afterTrial(state, mode, here, bounds);
    case 'hold':
      return afterHold(state, mode, { here, hasQueue }, bounds);
    case 'recover': {
      const top = Math.min(mode.ceiling, bounds.max);
      if (state.limit >= top) return hold(state, here);
      const step = Math.max(1, Math.round(state.limit * RECOVERY_STEP));
      return { ...state, limit: Math.min(top, state.limit + step) };
    }
  }
}

/** The state after the remote refuses (`backoff`) or fails (`retry`). */
export function climbDown(state: ClimbState, advice: 'retry' | 'backoff', bounds: ClimbBounds): ClimbState {
  const share = advice === 'backoff' ? CUT_ON_BACKOFF : CUT_ON_FAILURE;
  return {
    limit: clamp(state.limit * share, bounds),
    mode: { is: 'recover', ceiling: clamp(Math.floor(state.limit * CEILING_SHARE), bounds) },
    patience: Math.min(PATIENCE_MAX, state.patience * 2),
    isNextTrialUp: false,
    isWary: true,
  };
}

function afterGrowth(
  state: ClimbState,
  from: Level | undefined,
  here: Level,
  bounds: ClimbBounds,
): ClimbState {
  const pay = from === undefined ? 1 : payOf(from, here);
  if (pay >= PAYS && here.limit < bounds.max) {
    return { ...state, limit: clamp(here.limit * 2, bounds), mode: { is: 'grow', from: here } };
  }
  return hold(state, from === undefined || pay >= PAYS_A_LITTLE ? here : from);
}

function afterTrial(
  state: ClimbState,
  { base, isRepeat }: ClimbMode & { readonly is: 'trial' },
  here: Level,
  bounds: ClimbBounds,
): ClimbState {
  const isUp = here.limit > base.limit;
  const isBetter = isUp ? payOf(base, here) >= PAYS : here.rate >= base.rate * COSTS_NOTHING;
  if (!isBetter) {
    const patience = Math.min(PATIENCE_MAX, state.patience * 2);
    return hold({ ...state, patience, isNextTrialUp: !isUp }, base);
  }
  // Two steps up that paid: the link has room again.
  if (isUp && isRepeat) {
    const limit = clamp(here.limit * 2, bounds);
    return { ...state, limit, patience: PATIENCE_MIN, mode: { is: 'grow', from: here } };
  }
  // A smaller limit must match the larger one's throughput, or many small losses would add up.
  const next = isUp ? here : { limit: here.limit, rate: Math.max(here.rate, base.rate) };
  const going = { ...state, patience: PATIENCE_MIN, isNextTrialUp: isUp };
  const neighbour = isUp ? levelAbove(next, bounds) : levelBelow(next, bounds);
  if (neighbour === undefined) return hold({ ...going, isNextTrialUp: !isUp }, next);
  return { ...going, limit: neighbour, mode: { is: 'trial', base: next, isRepeat: true } };
}

function afterHold(
  state: ClimbState,
  { usual, windows }: ClimbMode & { readonly is: 'hold' },
  { hasQueue, here }: { readonly here: Level; readonly hasQueue: boolean },
  bounds: ClimbBounds,
): ClimbState {
  if ((hasQueue || state.isWary) && usual !== undefined && here.rate < usual.rate * SUDDEN_DROP) {
    return tryNeighbour({ ...state, isNextTrialUp: false }, here, bounds);
  }
  const rate = usual === undefined ? here.rate : usual.rate + SMOOTHING * (here.rate - usual.rate);
  const known = { limit: here.limit, rate };
  if (windows + 1 >= state.patience) {
    return hasQueue || state.isWary ? tryNeighbour(state, known, bounds) : tryDouble(state, known, bounds);
  }
  return { ...state, mode: { is: 'hold', usual: known, windows: windows + 1 } };
}

/** Tries the level above or below, whichever is due; at a bound, the other one. */
function tryNeighbour(state: ClimbState, base: Level, bounds: ClimbBounds): ClimbState {
  const up = levelAbove(base, bounds);
  const down = levelBelow(base, bounds);
  const limit = state.isNextTrialUp ? (up ?? down) : (down ?? up);
  if (limit === undefined) return hold(state, base);
  return { ...state, limit, mode: { is: 'trial', base, isRepeat: false } };
}

function tryDouble(state: ClimbState, base: Level, bounds: ClimbBounds): ClimbState {
  if (base.limit >= bounds.max) return hold(state, base);
  const patience = Math.min(PATIENCE_MAX, state.patience * 2);
  return { ...state, patience, limit: clamp(base.limit * 2, bounds), mode: { is: 'grow', from: base } };
}

function hold(state: ClimbState, at: Level): ClimbState {
  return { ...state, limit: at.limit, mode: { is: 'hold', usual: at, windows: 0 } };
}

function levelAbove({ limit }: Level, bounds: ClimbBounds): number | undefined {
  const above = clamp(Math.max(limit + 1, limit * TRIAL_UP), bounds);
  return above > limit ? above : undefined;
}

function levelBelow({ limit }: Level, bounds: ClimbBounds): number | undefined {
  const below = Math.max(bounds.enough ?? 0, clamp(Math.min(limit - 1, limit * TRIAL_DOWN), bounds));
  return below < limit ? below : undefined;
}

/**
 * The share of the change in concurrency that turned into throughput: 1 when it scales, 0 when it has no
 * effect.
 */
function payOf(from: Level, to: Level): number {
  if (to.limit === from.limit) return 1;
  return (to.rate / from.rate - 1) / (to.limit / from.limit - 1);
}

function clamp(limit: number, { min, max }: ClimbBounds): number {
  return Math.min(max, Math.max(min, Math.round(limit)));
}
