/**
 * Four workspaces of one repository, in random order: edits, pushes, pulls, switches, branches and tags, with
 * runs that are killed, stopped, or meet a store or a disk that fails. After each step every commit, every
 * file and every ref is what a dictionary says (`branches/history-model.ts`).
 *
 *     DRAY_BRANCHES_SEEDS=7-20 DRAY_BRANCHES_STEPS=300    runs others
 *     DRAY_BRANCHES_ONLY=3,8,41                           replays these steps of one seed
 *     DRAY_BRANCHES_SHRINK=1                              makes a failure shorter
 */
import { describe, expect, it, vi } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { rawZstd } from '../collection/raw-zstd.ts';
import { modelStores, runModel } from './branches/branches-model.ts';
import { installFaultyCalls } from './branches/run-faults.ts';
import { describeFailure, shrink } from './branches/shrink.ts';
import type { Feature } from './branches/world.ts';

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
const FEATURES: ReadonlySet<Feature> = new Set((given?.split(',') ?? []) as Feature[]);
const ORDER = only?.split(',').map(Number) ?? Array.from({ length: STEPS }, (_, at) => at + 1);

describe('Workspaces on branches', () => {
  const met = new Map<string, number>();

  it.each(SEEDS)('agree with a dictionary, with the seed %i', async (seed) => {
    const run = await runModel(seed, ORDER, FEATURES);
    for (const [what, times] of run.counts) met.set(what, (met.get(what) ?? 0) + times);
    if (!run.broken) return;
    console.log(describeFailure(seed, { run, steps: ORDER }));
    const shortest = process.env.DRAY_BRANCHES_SHRINK
      ? await shrink(seed, ORDER, run, FEATURES)
      : { run, steps: ORDER };
    throw new Error(describeFailure(seed, shortest), { cause: shortest.run.broken?.error });
  });

  it('have met everything that can happen', () => {
    console.log([...met].map(([what, times]) => `${what}: ${times}`).join(', '));
    expect([...met.keys()]).toEqual(
      expect.arrayContaining(['pushed', 'push merged', 'pull', 'switch', 'clone']),
    );
  });
});
