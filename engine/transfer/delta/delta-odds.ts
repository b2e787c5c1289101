/**
 * Decides whether signing the next segment is worth its cost. After several segments with nearly nothing in
 * common, most of the next ones are sent unsigned, and one is signed now and then as a probe. The gap between
 * probes doubles each time, up to a limit, so the bytes sent needlessly stay below those known to differ.
 */

export interface DeltaOdds {
  /** Call at the beginning of each segment. False: send it unsigned. */
  isWorthSigning(): boolean;
  /** Call with the result of each signed segment. */
  found(differentBytes: number, segmentBytes: number): void;
}

/** A segment counts as hopeless if at least this share of it differs from the old file. */
const HOPELESS = 0.99;
const HOPELESS_IN_A_ROW = 4;
const UNSIGNED_MAX = 8;

export function createDeltaOdds(): DeltaOdds {
  let hopeless = 0;
  let stretch = 0;
  let unsigned = 0;
  return {
    isWorthSigning() {
      if (unsigned === 0) return true;
      unsigned -= 1;
      return false;
    },
    found(differentBytes, segmentBytes) {
      if (differentBytes < HOPELESS * segmentBytes) {
        hopeless = 0;
        stretch = 0;
        unsigned = 0;
        return;
      }
      hopeless += 1;
      if (hopeless < HOPELESS_IN_A_ROW || unsigned > 0) return;
      stretch = Math.min(UNSIGNED_MAX, Math.max(1, 2 * stretch));
      unsigned = stretch;
    },
  };
}
