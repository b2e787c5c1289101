/** Numbers from repeated runs. */

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** @param values At least one. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((left, right) => left - right);
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (least === undefined || most === undefined) throw new RangeError('There is no median of nothing.');
  return { median: medianOfSorted(sorted), least, most };
}

export function medianOf(values: readonly number[]): number {
  return spreadOf(values).median;
}

function medianOfSorted(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
