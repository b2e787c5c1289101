/**
 * Four workspaces of one repository, in random order: edits, pushes, pulls, switches, branches and tags, with
 * runs that are killed, stopped, or meet a store or a disk that fails. After each step every commit, every
 * file and every ref is what a dictionary says (`branches/history-model.ts`).
 *
 *     DRAY_BRANCHES_SEEDS=7-20 DRAY_BRANCHES_STEPS=300    runs others
 *     DRAY_BRANCHES_WITH=half,merge                       with these parts of the model (`ALL_FEATURES`)
 *     DRAY_BRANCHES_LOG=FILE                              adds a line for each seed that passed
 *     DRAY_BRANCHES_ONLY=3,8,41                           replays these steps of one seed
 *     DRAY_BRANCHES_SHRINK=1                              makes a failure shorter
 */
import { appendFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { rawZstd } from '../collection/raw-zstd.ts';
import { modelStores, runModel } from './branches/branches-model.ts';
import { installFaultyCalls } from './branches/run-faults.ts';
import { describeFailure, shrink } from './branches/shrink.ts';
import { ALL_FEATURES, type Feature } from './branches/world.ts';

vi.mock('node:zlib', async (original) => ({
  ...(await original<typeof import('node:zlib')>()),
  ...rawZstd(),
}));
vi.mock('../../engine/remotes/file/file-store.ts', () => ({
  openFileStore: ({ root }: { readonly root: string }) => modelStores.get(root),
}));
installFaultyCalls();

const { DRAY_BRANCHES_ONLY: only, DRAY_BRANCHES_SEEDS: seeds, DRAY_BRANCHES_WITH: given } = process.env;
const STEPS = Number(process.env.DRAY_BRANCHES_STEPS ?? 200);
const [FIRST, LAST] = (seeds ?? runBudget({ short: '1-3', long: '1-50' })).split('-').map(Number);
const SEEDS = Array.from({ length: (LAST ?? FIRST!) - FIRST! + 1 }, (_, at) => FIRST! + at);
const FEATURES: ReadonlySet<Feature> = new Set((given?.split(',') ?? ALL_FEATURES) as Feature[]);
const ORDER = only?.split(',').map(Number) ?? Array.from({ length: STEPS }, (_, at) => at + 1);

/** Each of these happens in so many steps. */
const OFTEN = {
  steps: 600,
  kinds: [
    ...['pushed', 'push merged', 'pushed at once', 'push with a fault', 'push published without knowing it'],
    ...[
      'pull',
      'pull decided',
      'pull did not end',
      'left half of a commit',
      'look',
      'clone',
      'lost the index',
    ],
    ...['switch', 'switch -c', 'restored', 'merge decided', 'merge did not end', 'revert decided'],
    ...['tagged', 'branched', 'lost a ref', 'push without its branch', 'log of a path'],
  ],
};
const SELDOM = {
  steps: 10_000,
  kinds: [
    ...['merge', 'merge refused', 'merge aborted', 'merge --abort did not end'],
    ...['revert', 'revert refused', 'revert aborted', 'revert did not end', 'revert --abort did not end'],
    ...[
      'switch did not end',
      'clone did not end',
      'look did not end',
      'restore did not end',
      'restored exactly',
    ],
    ...['push refused: conflict mergePending', 'push refused: conflict halfArrived', 'name removed'],
    'push refused: conflict detached',
  ],
};

describe('Workspaces on branches', () => {
  const met = new Map<string, number>();

  it.each(SEEDS)('agree with a dictionary, with the seed %i', async (seed) => {
    const run = await runModel(seed, ORDER, FEATURES);
    for (const [what, times] of run.counts) met.set(what, (met.get(what) ?? 0) + times);
    if (!run.broken) {
      const { DRAY_BRANCHES_LOG: file } = process.env;
      if (file) appendFileSync(file, `seed ${seed}: ${ORDER.length} steps\n`);
      return;
    }
    console.log(describeFailure(seed, { run, steps: ORDER }));
    const shortest = process.env.DRAY_BRANCHES_SHRINK
      ? await shrink(seed, ORDER, run, FEATURES)
      : { run, steps: ORDER };
    throw new Error(describeFailure(seed, shortest), { cause: shortest.run.broken?.error });
  });

  it('have met everything that can happen', () => {
    console.log([...met].map(([what, times]) => `${what}: ${times}`).join(', '));
    const steps = given === undefined ? SEEDS.length * ORDER.length : 0;
    const due = [OFTEN, SELDOM].filter((one) => steps >= one.steps).flatMap(({ kinds }) => kinds);
    expect([...met.keys()]).toEqual(expect.arrayContaining(['pushed', ...due]));
  });
});
