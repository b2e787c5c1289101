import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { chooseBlocks } from '../data/changed-file.ts';
import { shapeOfSizes } from '../data/dataset.ts';
import type { Bench } from '../machines/bench.ts';
import { parseWaitedCpuMs } from '../machines/peer-servers.ts';
import { findUnplanned, openSmallBench } from '../machines/small-bench.ts';
import { createPeerScenarios, type PeerShapes } from './peer-scenarios.ts';
import { runScenario } from './run-scenario.ts';
import { listHeats } from './scenario.ts';

const TINY: PeerShapes = {
  many: { files: 60, bytesMax: 10, sizes: 'spread' },
  huge: { files: 2, bytesMax: 100_000, sizes: 'equal' },
  images: shapeOfSizes([70_000, 180_000, 470_000]),
  fileBytes: 3_000_000,
  deltaBytes: { medium: 3_000_000, large: 4_000_000 },
};

const HEATS = listHeats(createPeerScenarios(TINY, COMMAND), [0]).filter(({ name }) =>
  /^(peer-.*|delta-10|delta-large-50|cdc-insert)$/.test(name),
);

describe('Every kind of scenario between machines', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it.each(
    HEATS.slice(0, runBudget({ short: 1, long: HEATS.length })).map((heat) => [heat.name, heat] as const),
  )('runs with Dray, and every check passes: %s', async (_, heat) => {
    await bench.beginHeat(new Set());
    const field = (await heat.open(bench)).filter(({ kind }) => kind === 'dray');
    const { entrants } = await runScenario(heat, field, bench, { runs: 1, say: () => {} });
    const states = entrants.map(({ name, outcome }) =>
      outcome.state === 'measured' ? [name, outcome.state] : [name, outcome.state, outcome.reason],
    );
    expect(states).toEqual(field.map(({ name }) => [name, 'measured']));
    expect(findUnplanned(bench, heat.needs)).toEqual({ unused: [], unnamed: [] });
  });
});

describe('The blocks to change', () => {
  it('have the requested number, each once and in order', () => {
    for (const wanted of [0, 1, 10, 99, 100]) {
      const chosen = chooseBlocks(100, wanted);
      expect(chosen).toHaveLength(wanted);
      expect(chosen).toEqual([...new Set(chosen)].sort((left, right) => left - right));
      expect(chosen.every((block) => block >= 0 && block < 100)).toBe(true);
    }
  });
});

describe('The time of awaited processes', () => {
  it('is in the fields after those of the process itself', () => {
    const stat = '7 (a ) b) S 1 7 7 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 1 0 5 6 7';
    expect(parseWaitedCpuMs(stat)).toBe(270);
  });
});
