/**
 * The rate of a transfer and its remaining time, from the progress events of its job. Large parts arrive far
 * apart, so the rate is that of the network, which moves all the time. If far less is sent than gets done, as
 * when a store copies within itself, it is the rate of what gets done.
 */

/** Long enough to even out batches, short enough to follow the link. */
const WINDOW_MS = 8_000;
/** With fewer samples than this, a rate predicts nothing. */
const SURE_AFTER_MS = 2_000;
const SAMPLE_EVERY_MS = 250;
/** Stalled: nothing for this long, and for this many times the longest pause before. */
const STALL_MS = 5_000;
const STALL_PAUSES = 3;

export interface MovedAmount {
  /** Without bytes that were already there. */
  readonly doneBytes: number;
  readonly wireBytes?: number | undefined;
}

interface Sample {
  readonly atMs: number;
  readonly doneBytes: number;
  readonly wireBytes: number;
}

export interface TransferRate {
  /** A new phase counts from zero. */
  reset(): void;
  note(nowMs: number, moved: MovedAmount): void;
  /** Some or all of the bytes under way were lost and must be sent again. */
  lose(): void;
  /** @param left Bytes that are not done; undefined if the total is unknown. */
  read(nowMs: number, left: number | undefined): Pace;
}

export interface Pace {
  readonly bytesPerSecond: number;
  readonly secondsLeft?: number;
  readonly bytesUnderWay?: number;
}

export function createTransferRate(): TransferRate {
  let samples: Sample[] = [];
  /** Since then, bytes sent and not done are under way. */
  let since: Sample | undefined;
  return {
    reset() {
      samples = [];
      since = undefined;
    },
    lose() {
      since = samples.at(-1);
    },
    note(nowMs, { doneBytes, wireBytes = 0 }) {
      const last = samples.at(-1);
      if (last?.doneBytes === doneBytes && last.wireBytes === wireBytes) return;
      // The newest sample moves with the count until it is far enough from the one before it.
      const before = samples.at(-2);
      if (before && nowMs - before.atMs < SAMPLE_EVERY_MS) samples.pop();
      const sample = { atMs: nowMs, doneBytes, wireBytes };
      since ??= sample;
      samples.push(sample);
      while (samples.length > 2 && samples[1]!.atMs < nowMs - WINDOW_MS) samples.shift();
    },
    read(nowMs, left) {
      const [first] = samples;
      const last = samples.at(-1);
      if (!first || !last || !since) return { bytesPerSecond: 0 };
      const bytesUnderWay = Math.min(left ?? 0, underWay(since, last));
      const progress = bytesUnderWay > 0 ? { bytesUnderWay } : {};
      if (nowMs <= first.atMs || isStalled(samples, nowMs)) return { ...progress, bytesPerSecond: 0 };
      const spanMs = nowMs - first.atMs;
      const bytesPerSecond = (bytesBetween(first, last) * 1000) / spanMs;
      if (left === undefined || bytesPerSecond <= 0 || spanMs < SURE_AFTER_MS)
        return { ...progress, bytesPerSecond };
      return { ...progress, bytesPerSecond, secondsLeft: (left - bytesUnderWay) / bytesPerSecond };
    },
  };
}

function bytesBetween(first: Sample, last: Sample): number {
  const done = last.doneBytes - first.doneBytes;
  const wire = last.wireBytes - first.wireBytes;
  return Math.max(0, wire >= done / 2 ? wire : done);
}

function underWay(since: Sample, last: Sample): number {
  return Math.max(0, last.wireBytes - since.wireBytes - (last.doneBytes - since.doneBytes));
}

function isStalled(samples: readonly Sample[], nowMs: number): boolean {
  const pauses = samples.slice(1).map(({ atMs }, at) => atMs - samples[at]!.atMs);
  const silentMs = nowMs - samples.at(-1)!.atMs;
  return silentMs > Math.max(STALL_MS, STALL_PAUSES * Math.max(0, ...pauses));
}
