/** Statistics of repeated runs. */

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

/**
 * The k of `time = c x files^k`: the slope of the least-squares line through the logarithms. Ignores points
 * with a time of 0 or less.
 *
 * @returns Null with fewer than two points of different sizes.
 */
export function fitExponent(
  points: readonly { readonly files: number; readonly time: number }[],
): number | null {
  const logs = points.flatMap(({ files, time }) =>
    time > 0 ? [{ x: Math.log(files), y: Math.log(time) }] : [],
  );
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middleX, middleY] = [mean(logs.map(({ x }) => x)), mean(logs.map(({ y }) => y))];
  const spread = logs.reduce((sum, { x }) => sum + (x - middleX) ** 2, 0);
  if (!(spread > 0)) return null;
  return logs.reduce((sum, { x, y }) => sum + (x - middleX) * (y - middleY), 0) / spread;
}
