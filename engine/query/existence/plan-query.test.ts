import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CostModel, DEFAULT_COSTS, eachCost, isFew, listCost, planQuery, weigh } from './plan-query.ts';

const estimateOf = (objects: number, spread = 0.05) => ({
  objects,
  low: Math.floor(objects * (1 - spread)),
  high: Math.ceil(objects * (1 + spread)),
  isExact: false,
  isEven: true,
});

const anyCosts: fc.Arbitrary<CostModel> = fc.record({
  headMs: fc.double({ min: 0.1, max: 300, noNaN: true }),
  listMs: fc.double({ min: 0.5, max: 2_000, noNaN: true }),
  concurrency: fc.integer({ min: 1, max: 256 }),
  dollarsPerHead: fc.constantFrom(0, 0.4e-6),
  dollarsPerList: fc.constantFrom(0, 5e-6),
  dollarsPerRequest: fc.constant(2e-6),
  dollarsPerSecond: fc.constantFrom(0, 0.002, 0.05),
  patienceSeconds: fc.constantFrom(0, 2),
});

describe('planQuery', () => {
  it('asks each of a few candidates without sampling', () => {
    const plan = planQuery({ candidates: 1, mode: 'auto', costs: DEFAULT_COSTS, windows: 0 });
    expect(plan).toMatchObject({ choice: 'each', samples: 0 });
    expect(plan.each.requests).toBe(1);
  });

  it('lists 50,000 objects for 500 candidates, on a far cloud and on a near disk with slow listings', () => {
    const near = {
      ...DEFAULT_COSTS,
      headMs: 1,
      listMs: 350,
      concurrency: 16,
      dollarsPerHead: 0,
      dollarsPerList: 0,
    };
    for (const costs of [DEFAULT_COSTS, near]) {
      const plan = planQuery({
        candidates: 500,
        mode: 'auto',
        costs,
        remote: estimateOf(50_000),
        windows: 4,
      });
      expect(plan).toMatchObject({ choice: 'list', samples: 0 });
      expect(plan.list.requests).toBeLessThan(60);
      expect(plan.breakEvenObjects).toBeGreaterThan(60_000);
    }
  });

  it('samples a first window alone and, when the cost is high, three more at once', () => {
    const first = planQuery({ candidates: 5_000, mode: 'auto', costs: DEFAULT_COSTS, windows: 0 });
    expect(first.samples).toBe(1);
    const second = planQuery({
      candidates: 5_000,
      mode: 'auto',
      costs: DEFAULT_COSTS,
      remote: estimateOf(5e6),
      windows: 1,
    });
    expect(second.samples).toBe(3);
    const third = planQuery({
      candidates: 5_000,
      mode: 'auto',
      costs: DEFAULT_COSTS,
      remote: estimateOf(5e6),
      windows: 4,
    });
    expect(third.samples).toBe(0);
  });

  it('skips sampling only when a remembered size is far too large to list', () => {
    const ask = (objects: number) =>
      planQuery({
        candidates: 100,
        mode: 'auto',
        costs: DEFAULT_COSTS,
        remote: estimateOf(objects),
        windows: 0,
      });
    expect(ask(50_000_000)).toMatchObject({ choice: 'each', samples: 0 });
    expect(ask(60_000).samples).toBe(1);
    expect(ask(500)).toMatchObject({ choice: 'list', samples: 1 });
  });

  it('derives the break-even from latencies and prices', () => {
    const breakEven = (costs: Partial<CostModel>) =>
      planQuery({ candidates: 100_000, mode: 'auto', costs: { ...DEFAULT_COSTS, ...costs }, windows: 0 })
        .breakEvenObjects;
    expect(breakEven({ headMs: 60 })).toBeGreaterThan(breakEven({}));
    expect(breakEven({ listMs: 300 })).toBeLessThan(breakEven({}));
    expect(breakEven({ dollarsPerList: 50e-6 })).toBeLessThan(breakEven({}));
  });

  it('follows the fixed modes', () => {
    for (const mode of ['each', 'list'] as const) {
      const plan = planQuery({
        candidates: 10,
        mode,
        costs: DEFAULT_COSTS,
        remote: estimateOf(1e9),
        windows: 1,
      });
      expect(plan).toMatchObject({ choice: mode, samples: 0 });
    }
  });

  it('puts the break-even where both ways cost the same', () => {
    fc.assert(
      fc.property(anyCosts, fc.integer({ min: 1, max: 1_000_000 }), (costs, candidates) => {
        const { breakEvenObjects, each } = planQuery({ candidates, mode: 'each', costs, windows: 0 });
        const bound = weigh(each, costs);
        if (breakEvenObjects > 0)
          expect(weigh(listCost(breakEvenObjects, costs), costs)).toBeLessThanOrEqual(bound);
        expect(weigh(listCost(breakEvenObjects + 1_001, costs), costs)).toBeGreaterThan(bound);
      }),
    );
  });

  it('chooses the cheaper way for the estimate, always ends sampling, and has only finite numbers', () => {
    fc.assert(
      fc.property(
        anyCosts,
        fc.integer({ min: 0, max: 10_000_000 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: 1, max: 8 }),
        (costs, objects, candidates, windows) => {
          const remote = estimateOf(Math.max(objects, windows * 1_000));
          const plan = planQuery({ candidates, mode: 'auto', costs, remote, windows });
          const slack =
            weigh(listCost(windows * 1_000, costs), costs) +
            weigh(eachCost((candidates * windows * 1_000) / remote.objects, costs), costs);
          const chosen = weigh(plan[plan.choice], costs);
          const other = weigh(plan[plan.choice === 'each' ? 'list' : 'each'], costs);
          expect(chosen).toBeLessThanOrEqual(other + slack + 1e-9);
          expect(windows + plan.samples).toBeLessThanOrEqual(8);
          for (const cost of [plan.each, plan.list]) {
            expect(Object.values(cost).every(Number.isFinite)).toBe(true);
          }
          expect(Number.isSafeInteger(plan.breakEvenObjects)).toBe(true);
        },
      ),
    );
  });

  it('treats fewer candidates as few when more were', () => {
    fc.assert(
      fc.property(anyCosts, fc.integer({ min: 1, max: 10_000 }), (costs, candidates) => {
        if (isFew(candidates + 1, costs)) expect(isFew(candidates, costs)).toBe(true);
      }),
    );
  });
});
