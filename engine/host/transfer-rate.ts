/** How quickly bytes move and how long the rest will take, from the progress that a job tells. */

/** Long enough to even out batches, short enough to follow the link. */
const WINDOW_MS = 8_000;
/** Nothing for so long, and for so many times the longest pause before: it stands. Large parts on a slow link come a minute apart. */
const STALL_MS = 10_000;
const STALL_PAUSES = 3;
/** With less than this behind it, a rate says nothing of what is to come. */
const SURE_AFTER_MS = 2_000;
const SAMPLE_EVERY_MS = 250;

export interface TransferRate {
  /** A new phase counts from nothing. */
  reset(): void;
  note(nowMs: number, bytesDone: number): void;
  /** @param left Bytes; undefined where the whole is not known. */
  read(
    nowMs: number,
    left: number | undefined,
  ): { readonly bytesPerSecond: number; readonly secondsLeft?: number };
}

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

export function createTransferRate(): TransferRate {
  let samples: Sample[] = [];
  return {
    reset() {
      samples = [];
    },
    note(nowMs, bytes) {
      // The newest sample moves with the count until it is far enough from the one before it.
      const before = samples.at(-2);
      if (before && nowMs - before.atMs < SAMPLE_EVERY_MS) samples.pop();
      samples.push({ atMs: nowMs, bytes });
      while (samples.length > 2 && samples[1]!.atMs < nowMs - WINDOW_MS) samples.shift();
    },
    read(nowMs, left) {
      const [first] = samples;
      const last = samples.at(-1);
      if (!first || !last || nowMs <= first.atMs) return { bytesPerSecond: 0 };
      if (isStalled(samples, nowMs)) return { bytesPerSecond: 0 };
      const spanMs = nowMs - first.atMs;
      const bytesPerSecond = ((last.bytes - first.bytes) * 1000) / spanMs;
      if (left === undefined || bytesPerSecond <= 0 || spanMs < SURE_AFTER_MS) return { bytesPerSecond };
      return { bytesPerSecond, secondsLeft: left / bytesPerSecond };
    },
  };
}

function isStalled(samples: readonly Sample[], nowMs: number): boolean {
  const pauses = samples.slice(1).map(({ atMs }, at) => atMs - samples[at]!.atMs);
  const silentMs = nowMs - samples.at(-1)!.atMs;
  return silentMs > Math.max(STALL_MS, STALL_PAUSES * Math.max(0, ...pauses));
}
