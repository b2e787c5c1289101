/** Bounds how far V8 lets its heap grow before it collects garbage. */
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
 * For work on millions of names, which survive several collections. V8 would keep 64 MB and more for new objects, as much again for
 * those that it moves on, and let garbage lie until the heap doubles. Call `check` every thousand names or so (2 us): from 8 MB on,
 * the space for new objects stays as it is, and collections come earlier. Peak memory falls by a quarter for a tenth more CPU when a
 * million keys are compared (`bench`: compare-1m), from 315-368 to 219-257 MB at a first scan of 500,000 files, and from 517 to
 * 282 MB at a first push into a folder. It holds for the whole process, and for good.
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
