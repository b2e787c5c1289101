/** Estimates the number of objects on a remote from a few windows of its listing. Pure. */
import { countOf, type HashRun } from './hash-run.ts';
import { SPACE } from './hash-space.ts';

/** A range of the hash space, `end` excluded, in which every object is known. */
export interface SampledWindow {
  readonly start: number;
  readonly end: number;
  readonly run: HashRun;
}

/** Objects on the remote with a 95 % interval. JSON-safe: the index remembers it for the next push. */
export interface RemoteEstimate {
  readonly objects: number;
  readonly low: number;
  readonly high: number;
  /** Latencies measured on the way, for the next push's CostModel. */
  readonly headMs?: number;
  readonly listMs?: number;
}

export interface ObjectEstimate extends RemoteEstimate {
  /** The windows cover the whole space, so nothing is estimated. */
  readonly isExact: boolean;
  /** The windows agree with each other as well as evenly spread hashes would. */
  readonly isEven: boolean;
}

/** Standard normal quantiles. */
const Z_95_TWO_SIDED = 1.96;
const Z_99_9_ONE_SIDED = 3.09;

/**
 * Evenly spread objects form a Poisson process: K objects in a part E of the space have the likelihood N^K
 * exp(-NE), whether a window stopped at its end or because its page was full. So N = K/E, with Garwood's
 * exact interval (gamma quantiles at K and K + 1; Garwood, Biometrika 28, 1936). Seen objects are certain, so
 * the interval shrinks by sqrt(1 - E), the correction for a finite population, and is exact at E = 1.
 *
 * Windows that disagree by more than chance allows (chi-square, 99.9 %) indicate a remote whose hashes are
 * not spread evenly, such as one that another tool filled in order. The interval is then widened by the
 * dispersion (quasi-Poisson).
 */
export function estimateObjects(windows: readonly SampledWindow[]): ObjectEstimate {
  const seen = windows.reduce((total, window) => total + countOf(window.run), 0);
  const share = windows.reduce((total, window) => total + (window.end - window.start), 0) / SPACE;
  if (share >= 1) return { objects: seen, low: seen, high: seen, isExact: true, isEven: true };

  const objects = seen / share;
  const { dispersion, isEven } = dispersionOf(windows, objects);
  const shrink = Math.sqrt(1 - share) * Math.sqrt(isEven ? 1 : dispersion);
  const low = objects - (objects - gammaQuantile(seen, -Z_95_TWO_SIDED) / share) * shrink;
  const high = objects + (gammaQuantile(seen + 1, Z_95_TWO_SIDED) / share - objects) * shrink;
  return {
    objects: Math.round(objects),
    low: Math.max(seen, Math.floor(low)),
    high: Math.ceil(high),
    isExact: false,
    isEven,
  };
}

/**
 * Pearson's chi-square of the windows' counts over its degrees of freedom. At most two windows show nothing.
 */
function dispersionOf(
  windows: readonly SampledWindow[],
  objects: number,
): { readonly dispersion: number; readonly isEven: boolean } {
  const freedom = windows.length - 1;
  if (freedom < 2 || objects === 0) return { dispersion: 1, isEven: true };
  let chiSquare = 0;
  for (const window of windows) {
    // A window can end at its first object; half an object keeps the division finite.
    const expected = Math.max(0.5, (objects * (window.end - window.start)) / SPACE);
    chiSquare += (countOf(window.run) - expected) ** 2 / expected;
  }
  const limit = 2 * gammaQuantile(freedom / 2, Z_99_9_ONE_SIDED);
  return { dispersion: Math.max(1, chiSquare / freedom), isEven: chiSquare <= limit };
}

/**
 * The quantile of Gamma(shape, 1) at normal deviate `z`, by Wilson and Hilferty's cube root (PNAS 17, 1931):
 * within 1 % of the exact upper limit for every whole shape, and slightly wide below.
 */
function gammaQuantile(shape: number, z: number): number {
  if (shape <= 0) return 0;
  const ninth = 1 / (9 * shape);
  return shape * Math.max(0, 1 - ninth + z * Math.sqrt(ninth)) ** 3;
}
