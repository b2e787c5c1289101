import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import type { DatasetShape } from '../data/dataset.ts';
import type { Contender, ContenderName } from '../entrants/contender.ts';
import { createDray } from '../entrants/contenders.ts';
import type { Bench } from '../machines/bench.ts';
import { DRAY_FROM_SOURCES, findUnplanned, openSmallBench, runEntrant } from '../machines/small-bench.ts';
import { createGrowthScenarios } from './growth-scenarios.ts';
import { runScenario } from './run-scenario.ts';
import { type Heat, listHeats } from './scenario.ts';

const SHAPES: readonly DatasetShape[] = [20, 40].map((files) => ({ files, bytesMax: 30, sizes: 'spread' }));
const HEATS = listHeats(createGrowthScenarios(SHAPES, COMMAND), undefined);

/** Dray replaces rclone, since both copy in the same ways; only hashing a folder is left out. */
const IN_RCLONES_PLACE: Contender = { ...DRAY_FROM_SOURCES, name: 'rclone' };

describe('A scenario of growth', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench({
      contenders: new Map<ContenderName, Contender>([
        ['dray', createDray('of the sources', COMMAND)],
        ['rclone', IN_RCLONES_PLACE],
      ]),
    });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it.each(HEATS.map((heat) => [heat.name, heat] as const))(
    'runs at each size with all checks, and its targets name its own entrants: %s',
    async (name, heat) => {
      await bench.beginHeat(new Set());
      const field = await heat.open(bench);
      const run = field.filter((entrant) => !(name === 'growth-scan' && entrant.kind === 'peer'));
      const { entrants, verdicts } = await runScenario(heat, run, bench, { runs: 1, say: () => {} });
      const states = entrants.map(({ name: entrant, outcome }) =>
        outcome.state === 'measured' ? [entrant, 'measured'] : [entrant, outcome],
      );
      expect(states).toEqual(run.map((entrant) => [entrant.name, 'measured']));
      expect(entrants.map(({ files }) => files)).toEqual(run.map(({ files }) => files));
      for (const { target, reached } of verdicts)
        if (target.kind === 'exponent') expect(reached, JSON.stringify(target)).not.toBeUndefined();
      expect(findUnplanned(bench, heat.needs)).toEqual({ unused: [], unnamed: [] });
      const names = field.map((entrant) => entrant.name);
      for (const target of heat.targets) expect(names).toEqual(expect.arrayContaining([...namesOf(target)]));
    },
    10 * 60_000,
  );

  it.each([
    ['growth-scan', 'dray push --dry-run, 20 files', /"added":20/, '"added":19'],
    ['growth-unchanged', 'dray status, 20 files', /"modified":0/, '"modified":1'],
    ['growth-unchanged', 'dray push, 20 files', /nothingToPush/, 'pushed'],
    ['growth-list', 'dray ls, 20 files', /"entries":20/, '"entries":21'],
    ['growth-list', 'rclone lsf, 20 files', /^.*\n/, ''],
  ])(
    'fails in %s when %s did other work',
    async (scenario, name, pattern, instead) => {
      const field = await heatOf(scenario).open(bench);
      const entrant = field.find((one) => one.name === name);
      const broken = runEntrant(bench, entrant, (run) => ({
        ...run,
        output: run.output.replace(pattern, instead),
      }));
      await expect(broken).rejects.toThrow(/^it (saw|found|pushed)/);
    },
    10 * 60_000,
  );

  it('makes rclone hash a folder with the program and keys of its copies', async () => {
    const field = await heatOf('growth-scan').open(bench);
    const entrant = field.find(({ name }) => name === 'rclone md5sum, 20 files');
    const { command } = await entrant!.prepare();
    expect(command).toMatchObject({ file: process.execPath, args: expect.arrayContaining(['md5sum']) });
  });
});

function heatOf(scenario: string): Heat {
  return HEATS.find((heat) => heat.scenario === scenario)!;
}

function namesOf(target: Heat['targets'][number]): readonly string[] {
  switch (target.kind) {
    case 'ratio':
      return [target.of, ...target.toBestOf];
    case 'excess':
    case 'growthOfRss':
      return [target.of, target.over];
    case 'exponent':
      return [target.start, ...target.points.map(({ entrant }) => entrant)];
    case 'peakRss':
    case 'sent':
      return [target.of];
  }
}
