import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { mixSizes } from '../data/dataset.ts';
import type { Bench } from '../machines/bench.ts';
import { findUnplanned, openSmallBench } from '../machines/small-bench.ts';
import { runScenario } from './run-scenario.ts';
import { listHeats } from './scenario.ts';
import { createTreeScenarios, type TreeShapes } from './tree-scenarios.ts';

const TINY: TreeShapes = {
  few: { files: 5, bytesMax: 100, sizes: 'equal' },
  many: { files: 600, bytesMax: 10, sizes: 'spread' },
  large: { files: 2, bytesMax: 100_000, sizes: 'equal' },
  objectBytes: { '1gb': 100_000, '10gb': 200_000 },
  mixed: mixSizes({ files: 7, bytesMin: 99, bytesMax: 90_000 }),
  compared: { files: 1_001, bytesMax: 10, sizes: 'spread' },
};

const SCENARIOS = createTreeScenarios(TINY);
const HEATS = listHeats(SCENARIOS, undefined);

/** On the server that logs its requests. Tests beside the entrants cover the differences of MinIO. */
describe('Every scenario of plain trees', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it.each(
    HEATS.slice(0, runBudget({ short: 1, long: HEATS.length })).map((heat) => [heat.name, heat] as const),
  )('runs with Dray, and every check passes: %s', async (_, heat) => {
    await bench.beginHeat(new Set());
    const field = await heat.open(bench);
    const { entrants } = await runScenario(heat, field, bench, { runs: 1, say: () => {} });
    const states = entrants.map(({ name, outcome }) =>
      outcome.state === 'measured' ? [name, outcome.state] : [name, outcome.state, outcome.reason],
    );
    expect(states).toEqual(entrants.map(({ name }) => [name, 'measured']));
    expect(entrants[0]?.name).toBe('dray copy');
    const { unnamed, unused } = findUnplanned(bench, heat.needs);
    expect(unnamed).toEqual([]);
    // These belong to repositories, which no tool here has.
    expect(unused.filter((name) => !/^\["(linked|written)"/.test(name))).toEqual([]);
  });
});

describe('A target of plain trees', () => {
  it('names entrants that take part', async () => {
    const known = ['dray', 'dvc', 'dray copy', 'rclone', 'rclone (defaults)', 's5cmd', 'aws'];
    const variants = ['rclone (server times)', 'rclone (no traverse)', 's5cmd (one by one)'];
    for (const { targets } of SCENARIOS)
      for (const target of targets) {
        expect(known).toContain(target.of);
        if (target.kind === 'ratio')
          for (const name of target.toBestOf) expect([...known, ...variants]).toContain(name);
      }
  });
});
