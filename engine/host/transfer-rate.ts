/** How quickly bytes move and how long the rest will take, from the progress that a job tells. */

/** Long enough to even out batches, short enough to follow the link. */
const WINDOW_MS = 8_000;
/** With less than this behind it, a rate says nothing of what is to come. */
const SURE_AFTER_MS = 2_000;
const SAMPLE_EVERY_MS = 250;

export interface TransferRate {
  /** A new phase counts from nothing. */
  reset(): void;
  note(nowMs: number, bytesDone: number): void;
  /** @param left Bytes; undefined where the whole is not known. */
  read(nowMs: number, left: number | undefined): { readonly bytesPerSecond: number; readonly secondsLeft?: number };
}

export function createTransferRate(): TransferRate {
  let samples: { readonly atMs: number; readonly bytes: number }[] = [];
  return {
    reset() {
      samples = [];
    },
    note(nowMs, bytes) {
      // Between two samples only the newest count of bytes matters; the first sample stays where the rate begins.
      const last = samples.at(-1);
      const isTooSoon = samples.length > 1 && nowMs - last!.atMs < SAMPLE_EVERY_MS;
      if (isTooSoon) samples[samples.length - 1] = { atMs: last!.atMs, bytes };
      else samples.push({ atMs: nowMs, bytes });
      while (samples.length > 2 && samples[1]!.atMs < nowMs - WINDOW_MS) samples.shift();
    },
    read(nowMs, left) {
      const [first] = samples;
      const last = samples.at(-1);
      if (!first || !last || nowMs <= first.atMs) return { bytesPerSecond: 0 };
      const spanMs = nowMs - first.atMs;
      const bytesPerSecond = ((last.bytes - first.bytes) * 1000) / spanMs;
      if (left === undefined || bytesPerSecond <= 0 || spanMs < SURE_AFTER_MS) return { bytesPerSecond };
      return { bytesPerSecond, secondsLeft: left / bytesPerSecond };
    },
  };
}
