import { describe, expect, it } from 'vitest';
import { createReadingGauge } from './reading-gauge.ts';

/**
 * A disk that serves each thread a number of files per second, up to a bound; `busyShare` of that time is
 * computing.
 */
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

describe('the number of threads that read small files', () => {
  it('equals the number of cores while they compute', () => {
    expect(simulate({ perThread: 10_000, most: 1e9, busyShare: 0.9 }).readFor(10_000)).toBe(2);
  });

  it('doubles while the threads wait and more threads read more', () => {
    const { readFor } = simulate({ perThread: 1_000, most: 1e9, busyShare: 0.1 });
    expect(readFor(400)).toBe(4);
    expect(readFor(5_000)).toBe(16);
  });

  it('stops growing when more threads read no more', () => {
    expect(simulate({ perThread: 1_000, most: 4_500, busyShare: 0.1 }).readFor(10_000)).toBe(8);
    expect(simulate({ perThread: 1_000, most: 2_000, busyShare: 0.1 }).readFor(10_000)).toBe(4);
  });

  it('does not change while the threads wait for work', () => {
    const { readFor } = simulate({ perThread: 1_000, most: 1e9, busyShare: 0.1 });
    expect(readFor(10_000, false)).toBe(2);
    expect(readFor(400)).toBe(4);
  });
});
