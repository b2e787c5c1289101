import { describe, expect, it } from 'vitest';
import { longIt } from '../../base/long-it.fixture.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { estimateObjects } from './estimate-objects.ts';
import { packHashes } from './hash-run.ts';
import { SPACE } from './hash-space.ts';
import { sampleWindows } from './sampler.ts';
import { createSimulatedRemote, strangeHashes } from './simulated-remote.fixture.ts';

async function sampleOf(
  seed: number,
  objects: number,
  rounds: readonly number[],
  skew?: (place: number) => number,
) {
  const remote = createSimulatedRemote({ seed, objects, ...(skew === undefined ? {} : { skew }) });
  let windows: Awaited<ReturnType<typeof sampleWindows>> = [];
  for (const count of rounds) {
    const list = (request: Parameters<typeof remote.probe.list>[0]) => remote.probe.list(request);
    windows = await sampleWindows({ list, random: () => remote.clock.random(), windows, count });
  }
  return { windows, estimate: estimateObjects(windows), requests: remote.lists(), remote };
}

describe('estimateObjects', () => {
  it('is exact when the windows cover the whole space', () => {
    const run = packHashes([...strangeHashes(1, 10)].sort(), Array(10).fill(1));
    const estimate = estimateObjects([{ start: 0, end: SPACE, run }]);
    expect(estimate).toEqual({ objects: 10, low: 10, high: 10, isExact: true, isEven: true });
  });

  it('returns at least what it saw, and an upper bound even when it saw nothing', () => {
    const estimate = estimateObjects([{ start: 0, end: SPACE / 100, run: packHashes([], []) }]);
    expect(estimate.objects).toBe(0);
    expect(estimate.low).toBe(0);
    // Garwood's upper limit for a count of none is 3.69.
    expect(estimate.high).toBeGreaterThan(360);
    expect(estimate.high).toBeLessThan(380);
  });

  it.each([
    { objects: 1_200, rounds: [1] },
    { objects: 50_000, rounds: [1] },
    { objects: 50_000, rounds: [1, 3] },
    { objects: 3_000, rounds: [1, 3] },
    { objects: 2_000_000, rounds: [1, 3] },
  ])(
    'contains the true number in its interval at least 90 % of the time: $objects objects, rounds $rounds',
    async ({ objects, rounds }) => {
      const seeds = runBudget({ short: 40, long: 150 });
      let covered = 0;
      for (let seed = 0; seed < seeds; seed += 1) {
        const { estimate, remote } = await sampleOf(seed, objects, rounds);
        // A large simulated remote differs from its round number by far less than the interval's width, and
        // counting it is slow.
        const truth = objects > 100_000 ? objects : remote.countObjects();
        if (estimate.low <= truth && truth <= estimate.high) covered += 1;
      }
      expect(covered).toBeGreaterThanOrEqual(0.9 * seeds);
    },
  );

  it('is within 13 % (four standard errors) after one request, whatever the size', async () => {
    for (const objects of [5_000, 50_000, 1_000_000, 10_000_000]) {
      for (let seed = 0; seed < runBudget({ short: 3, long: 10 }); seed += 1) {
        const { estimate, requests } = await sampleOf(seed, objects, [1]);
        expect(requests).toBe(1);
        expect(Math.abs(estimate.objects / objects - 1)).toBeLessThan(0.13);
      }
    }
  });

  it('detects hashes that are not spread evenly, and widens its interval', async () => {
    const uneven = await sampleOf(5, 50_000, [1, 3], (place) => place ** 3);
    expect(uneven.estimate.isEven).toBe(false);
    const even = await sampleOf(5, 50_000, [1, 3]);
    expect(even.estimate.isEven).toBe(true);
    const width = ({ estimate }: typeof even) => (estimate.high - estimate.low) / estimate.objects;
    expect(width(uneven)).toBeGreaterThan(2 * width(even));
  });
});

describe('sampleWindows', () => {
  it('keeps windows disjoint and ascending, and ends when everything is known', async () => {
    for (const objects of [0, 1, 700, 1_500, 4_000, 50_000]) {
      const { windows, estimate, requests } = await sampleOf(3, objects, [1, 3, 4, 7]);
      let at = 0;
      for (const window of windows) {
        expect(window.start).toBeGreaterThanOrEqual(at);
        expect(window.end).toBeGreaterThan(window.start);
        at = window.end;
      }
      expect(at).toBeLessThanOrEqual(SPACE);
      if (objects <= 700) {
        expect(estimate.isExact).toBe(true);
        expect(requests).toBe(1);
      }
    }
  });

  longIt('learns as much from one window as from about eighty three-digit prefixes', async () => {
    const seeds = 25;
    const errorOfWindow: number[] = [];
    const errorOfPrefixes: number[] = [];
    for (let seed = 0; seed < seeds; seed += 1) {
      const { estimate } = await sampleOf(seed, 50_000, [1]);
      errorOfWindow.push((estimate.objects / 50_000 - 1) ** 2);
      const remote = createSimulatedRemote({ seed, objects: 50_000 });
      let met = 0;
      const prefixes = 40;
      for (let turn = 0; turn < prefixes; turn += 1) {
        const prefix = Math.floor(remote.clock.random() * 4_096)
          .toString(16)
          .padStart(3, '0');
        const page = await remote.probe.list({ prefix: '', after: prefix });
        met += page.hashes.filter((hash) => hash.startsWith(prefix)).length;
      }
      errorOfPrefixes.push(((met * 4_096) / prefixes / 50_000 - 1) ** 2);
    }
    const mean = (errors: readonly number[]) =>
      errors.reduce((total, error) => total + error, 0) / errors.length;
    // Forty prefixes are still clearly worse than one window.
    expect(mean(errorOfPrefixes)).toBeGreaterThan(1.2 * mean(errorOfWindow));
  });
});
