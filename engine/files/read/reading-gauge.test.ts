import { describe, expect, it } from 'vitest';
import { createReadingGauge } from './reading-gauge.ts';

/** A disk of which each thread gets so many files a second, up to a bound; computing takes its part of that time. */
function simulate(disk: { readonly perThread: number; readonly most: number; readonly busyShare: number }) {
  let nowMs = 0;
  let cpuMs = 0;
  const gauge = createReadingGauge({ threads: 2, cores: 2, nowMs: () => nowMs, cpuMs: () => cpuMs });
  return {
    gauge,
    readFor(milliseconds: number, isFull = true) {
      for (const end = nowMs + milliseconds; nowMs < end; ) {
        nowMs += 50;
        cpuMs += 50 * 2 * disk.busyShare;
        gauge.read(Math.min(disk.perThread * gauge.threads, disk.most) / 20, isFull);
      }
      return gauge.threads;
    },
  };
}

describe('The number of threads that read small files', () => {
  it('stays that of the cores while they compute', () => {
    expect(simulate({ perThread: 10_000, most: 1e9, busyShare: 0.9 }).readFor(10_000)).toBe(2);
  });

  it('doubles while the threads wait and more of them read more', () => {
    const { readFor } = simulate({ perThread: 1_000, most: 1e9, busyShare: 0.1 });
    expect(readFor(400)).toBe(4);
    expect(readFor(5_000)).toBe(16);
  });

  it('grows no further when more threads have read no more', () => {
    expect(simulate({ perThread: 1_000, most: 4_500, busyShare: 0.1 }).readFor(10_000)).toBe(8);
    expect(simulate({ perThread: 1_000, most: 2_000, busyShare: 0.1 }).readFor(10_000)).toBe(4);
  });

  it('stays where it is while the threads wait for work', () => {
    const { readFor } = simulate({ perThread: 1_000, most: 1e9, busyShare: 0.1 });
    expect(readFor(10_000, false)).toBe(2);
    expect(readFor(400)).toBe(4);
  });
});
