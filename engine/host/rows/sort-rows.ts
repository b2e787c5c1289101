/**
 * Sorts and merges row numbers in slices. Transfers and other requests run between the slices, so a million
 * rows do not block the engine's thread.
 */
import { setImmediate } from 'node:timers/promises';
import { checkAborted } from '../../base/abort.ts';
import { type Clock, systemClock } from '../../base/clock.ts';

const SLICE_MS = 10;
/** The rows that are processed between two readings of the clock, or sorted at once. */
const STEP_ROWS = 2_048;

/** Undefined within a slice. Otherwise a promise, which the caller awaits before the next row. */
export type Pause = (row: number) => Promise<void> | undefined;
type Rows = Uint32Array<ArrayBuffer>;
export type CompareRows = (a: number, b: number) => number;

/** @param clock Default: the system's. */
export function createPause(signal: AbortSignal, clock: Pick<Clock, 'monotonicMs'> = systemClock): Pause {
  let beganMs = clock.monotonicMs();
  return (row) => {
    if (row % STEP_ROWS !== 0 || clock.monotonicMs() - beganMs < SLICE_MS) return undefined;
    return setImmediate().then(() => {
      checkAborted(signal);
      beganMs = clock.monotonicMs();
    });
  };
}

export function numbersBelow(count: number): Rows {
  const numbers = new Uint32Array(count);
  for (let row = 0; row < count; row += 1) numbers[row] = row;
  return numbers;
}

/** A merge sort, which needs few comparisons for sorted rows. Changes `rows`. */
export async function sortRows(rows: Rows, compare: CompareRows, pause: Pause): Promise<Rows> {
  for (let start = 0; start < rows.length; start += STEP_ROWS) {
    rows.subarray(start, start + STEP_ROWS).sort(compare);
    const wait = pause(start);
    if (wait) await wait;
  }
  let from = rows;
  let to = new Uint32Array(rows.length);
  for (let width = STEP_ROWS; width < rows.length; width *= 2) {
    for (let start = 0; start < rows.length; start += 2 * width) {
      const end = start + 2 * width;
      const lists = [from.subarray(start, start + width), from.subarray(start + width, end)] as const;
      await mergeInto(to.subarray(start, end), lists, compare, pause);
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges two sorted lists. */
export async function mergeRows(
  a: Uint32Array,
  b: Uint32Array,
  compare: CompareRows,
  pause: Pause,
): Promise<Uint32Array> {
  const merged = new Uint32Array(a.length + b.length);
  await mergeInto(merged, [a, b], compare, pause);
  return merged;
}

async function mergeInto(
  merged: Uint32Array,
  [a, b]: readonly [Uint32Array, Uint32Array],
  compare: CompareRows,
  pause: Pause,
): Promise<void> {
  if (a.length === 0 || b.length === 0 || compare(a.at(-1)!, b[0]!) <= 0) {
    merged.set(a);
    merged.set(b, a.length);
    return;
  }
  let left = 0;
  let right = 0;
  for (let at = 0; at < merged.length; at += 1) {
    const isLeft = right === b.length || (left < a.length && compare(a[left]!, b[right]!) <= 0);
    merged[at] = isLeft ? a[left++]! : b[right++]!;
    const wait = pause(at);
    if (wait) await wait;
  }
}
