/**
 * Whether it still pays to look for what two files have in common. Where nearly nothing was the same in
 * several segments, most of the next ones are sent unsigned, and one now and then is looked at again: twice
 * as many between two looks each time, so that what is sent in vain stays below what was found to differ.
 */

export interface DeltaOdds {
  /** Asked at the beginning of each segment: false has it sent as it is. */
  isWorthSigning(): boolean;
  /** Of a segment that was signed. */
  found(differentBytes: number, segmentBytes: number): void;
}

/**
 * Of a segment that has nearly nothing in common with the old file: so much of it, at least, would be sent.
 */
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
