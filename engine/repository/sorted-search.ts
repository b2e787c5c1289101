/**
 * Binary search: the first index from `start` on for which the predicate holds, or the list's length.
 * @param holds False up to some index and true from there on.
 */
export function firstIndexWhere<T>(sorted: readonly T[], start: number, holds: (item: T) => boolean): number {
  let low = start;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(sorted[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
