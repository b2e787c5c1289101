/** Binary search: finds the place in a sorted list where a condition begins to hold. */

/**
 * The first index from `start` on for which the predicate holds, or the list's length.
 * @param holds False up to some item and true from there on.
 */
export function firstIndexWhere<T>(sorted: readonly T[], start: number, holds: (item: T) => boolean): number {
  return firstNumberWhere(start, sorted.length, (index) => holds(sorted[index] as T));
}

/** The first number from `start` on for which the predicate holds, or `end`. */
export function firstNumberWhere(start: number, end: number, holds: (number: number) => boolean): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
