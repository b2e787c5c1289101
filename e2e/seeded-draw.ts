/** Random choices for tests that a seed repeats exactly. */
export interface Draw {
  below(limit: number): number;
  chance(percent: number): boolean;
  of<T>(list: readonly T[]): T;
  noise(sizeBytes: number): Buffer;
}

/** The generator is mulberry32 (Tommy Ettinger, public domain). */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return {
    below,
    chance: (percent) => below(100) < percent,
    of: (list) => list[below(list.length)]!,
    noise: (sizeBytes) => Buffer.from(Array.from({ length: sizeBytes }, () => below(256))),
  };
}
