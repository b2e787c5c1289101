/** The last minute of throughput, one value per second, oldest first. A ring of fixed size. */

export const SECONDS_KEPT = 60;

export interface Throughput {
  readonly push: (bytesPerSecond: number) => void;
  /** Always `SECONDS_KEPT + 1` long; seconds before the first value are 0. */
  readonly read: () => number[];
}

export function createThroughput(): Throughput {
  const ring = new Float64Array(SECONDS_KEPT + 1);
  let next = 0;
  return {
    push: (bytesPerSecond) => {
      ring[next] = bytesPerSecond;
      next = (next + 1) % ring.length;
    },
    read: () => [...ring.subarray(next), ...ring.subarray(0, next)],
  };
}

/** Seconds before now of each value that `read` returns: -60 to 0. */
export const SECONDS_AXIS: readonly number[] = Array.from(
  { length: SECONDS_KEPT + 1 },
  (_, index) => index - SECONDS_KEPT,
);

/** From 0 to at most `highBytes` in two to four steps of 1, 2 or 5 times a power of ten, of a unit. */
export function roundSteps(highBytes: number): number[] {
  const unit = 1024 ** Math.floor(Math.log(highBytes / 2) / Math.log(1024));
  const noughts = 10 ** Math.floor(Math.log10(highBytes / 2 / unit));
  const lead = [5, 2, 1].find((step) => step * noughts * unit <= highBytes / 2) ?? 1;
  const step = lead * noughts * unit;
  return Array.from({ length: Math.floor(highBytes / step) + 1 }, (_, at) => at * step);
}
