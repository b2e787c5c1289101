/** How much memory V8 lets objects take before it looks which of them are still used. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Both halves of what is for new objects. Short runs end before it has grown so far. */
const ENOUGH_BYTES = 8 * 1024 * 1024;
/** Of the calls of `check`, those that look at nothing: a short run has no need of Node's module for it. */
const UNCHECKED = 4;
/** Of what was in use at the last look, by which the heap may grow until the next one. V8 of itself doubles it, and more. */
const GROWING_PERCENT = 20;

/**
 * For work on millions of names, whose items live long enough to survive a look or two: V8 would give new objects twice 32 MB and
 * more, as much again to what it moved out of there, and let all of it lie until it is twice as much. Call `check` every thousand names
 * or so (2 us): from 8 MB on the part for new objects grows no further, and the whole is looked at earlier. The peak of a comparison
 * of a million keys falls by a quarter for a tenth more CPU (`bench`: compare-1m), that of a first look at 500,000 files from 315-368 to
 * 219-257 MB, of a first push into a folder from 517 to 282. For the whole process, and for good.
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
