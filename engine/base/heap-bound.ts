/**
 * Bounds how far V8 lets its heap grow before it collects garbage, by V8's flags at run time. A worker's
 * `resourceLimits` cannot replace them: jobs run in the main thread, which has none, and
 * `maxOldGenerationSizeMb` ends a thread that needs more instead of collecting earlier. In a worker, every
 * short run would pay for a second thread that loads all modules.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Size of both halves of the young generation. Short runs end before it grows so far. */
const ENOUGH_BYTES = 8 * 1024 * 1024;
/** The first calls of `check` do nothing, so that a short run does not load `node:v8`. */
const UNCHECKED = 4;
/**
 * How far the heap may grow beyond what was in use at the last check. V8's own default doubles it or more.
 */
const GROWING_PERCENT = 20;

/**
 * For work on millions of names, whose objects survive one or two collections: V8 would give the young
 * generation 32 MB and more twice, and double the old generation before it collects. Call `check` about every
 * thousand names (2 us). From 8 MB on, the young generation stops growing and full collections come earlier.
 * This lowers the peak of a comparison of a million keys by a quarter for a tenth more CPU (`bench`:
 * compare-1m). It applies to the whole process, permanently.
 */
export function createHeapBound(): { check(): void } {
  let isBound = false;
  let calls = 0;
  return {
    check() {
      calls += 1;
      if (isBound || calls <= UNCHECKED) return;
      const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
      if (!young || young.space_size < ENOUGH_BYTES) return;
      setFlagsFromString('--semi-space-growth-factor=1');
      setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
      isBound = true;
    },
  };
}
