import { describe, expect, it } from 'vitest';
import type { FleetWorkerLook } from '../../api/host/fleet-link.ts';
import { createWorkerRates } from './worker-rates.ts';

const look = (worker: string, atMs: number, bytes: number, files = 0): FleetWorkerLook => ({
  worker,
  steps: 2,
  ranges: [0, 1],
  total: { steps: 0, files, bytes, atMs },
});

describe('the throughput of workers', () => {
  it('is known from the second heartbeat on, by the clock of the worker', () => {
    const rates = createWorkerRates();
    const first = rates.look([look('a', 500_000, 100)], 0);
    expect(first.workers).toMatchObject([{ name: 'a', steps: 2, bytes: 100, rates: [] }]);
    expect(first.workers[0]).not.toHaveProperty('bytesPerSecond');
    // The look comes late; the heartbeat was on time.
    const second = rates.look([look('a', 502_000, 2_100, 10)], 9_000);
    expect(second.workers).toMatchObject([{ bytesPerSecond: 1_000, filesPerSecond: 5, rates: [1_000] }]);
  });

  it('is that of the last ten seconds', () => {
    const rates = createWorkerRates();
    for (let second = 0; second <= 60; second += 2)
      rates.look([look('a', second * 1_000, second < 30 ? 0 : (second - 30) * 500)], second * 1_000);
    const { workers } = rates.look([], 60_000);
    expect(workers).toMatchObject([{ steps: 0, ranges: [], bytesPerSecond: 500 }]);
  });

  it('takes the same heartbeat once, and falls to zero when none follows', () => {
    const rates = createWorkerRates();
    rates.look([look('a', 0, 0)], 0);
    rates.look([look('a', 1_000, 1_000)], 1_000);
    expect(rates.look([look('a', 1_000, 1_000)], 2_000).workers[0]!.bytesPerSecond).toBe(1_000);
    expect(rates.look([look('a', 1_000, 1_000)], 10_000).workers[0]!.bytesPerSecond).toBe(0);
  });

  it('keeps an idle worker for a minute, and sixty rates of each', () => {
    const rates = createWorkerRates();
    for (let at = 0; at < 100; at += 1)
      rates.look([look('a', at * 1_000, at), look('b', at * 1_000, 0)], at * 1_000);
    const { workers } = rates.look([look('b', 100_000, 0)], 130_000);
    expect(workers.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(workers[0]!.rates).toHaveLength(60);
    expect(rates.look([look('b', 101_000, 0)], 160_000).workers.map(({ name }) => name)).toEqual(['b']);
  });

  it('shows a hundred workers, and counts the others', () => {
    const crowd = Array.from({ length: 130 }, (_, at) => look(`w${at}`, 0, 0));
    const { workers, workersMore } = createWorkerRates().look(crowd, 0);
    expect([workers.length, workersMore]).toEqual([100, 30]);
  });
});
