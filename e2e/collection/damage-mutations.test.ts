/**
 * Whether the model of damage would notice: each rule that keeps content beside a damaged object is taken out
 * of Dray's code in turn, and then some step must lose content.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';

const ENGINE = '../../engine';
const LONG_MS = 10 * 60_000;
/** With this seed each rule is missed early, and with all rules 20,000 steps lose nothing. */
const SEED = 4;
/** A rule is missed after some hundred steps; so many bound the search. */
const STEPS_MAX = 20_000;

vi.mock('node:zlib', async (original) => ({
  ...(await original<typeof import('node:zlib')>()),
  ...(await import('./raw-zstd.ts')).rawZstd(),
}));

const MODULES = [
  'jobs/collect/needed-packs.ts',
  'jobs/collect/replaced-packs.ts',
  'jobs/collect/stranded-packs.ts',
  'repository/packs/relocation.ts',
];

afterEach(() => {
  for (const name of MODULES) vi.doUnmock(`${ENGINE}/${name}`);
  vi.resetModules();
});

const RULES: Readonly<Record<string, () => void>> = {
  // Two rules, each of which keeps the replacement of a pack that is gone.
  'that each blob is in a pack that the store has, and that no pack is stranded': () => {
    vi.doMock(`${ENGINE}/jobs/collect/stranded-packs.ts`, async (original) => ({
      ...(await original<object>()),
      createStrandedPacks: () => ({ find: async () => new Set() }),
    }));
    vi.doMock(`${ENGINE}/jobs/collect/needed-packs.ts`, async (original) => {
      const real = await original<typeof import('../../engine/jobs/collect/needed-packs.ts')>();
      class Careless extends real.NeededPacks {
        override async require(): Promise<void> {}
      }
      return { ...real, NeededPacks: Careless };
    });
  },
  'that a relocation matches its digest': () =>
    vi.doMock(`${ENGINE}/repository/packs/relocation.ts`, async (original) => {
      const real = await original<typeof import('../../engine/repository/packs/relocation.ts')>();
      const readRelocation: typeof real.readRelocation = async (...call) => {
        const read = await real.readRelocation(...call);
        return read && { ...read, proof: 'intact' };
      };
      return { ...real, readRelocation };
    }),
  'that an old pack stays while the pack that replaces it is damaged': () =>
    vi.doMock(`${ENGINE}/jobs/collect/replaced-packs.ts`, async (original) => ({
      ...(await original<object>()),
      createReplacedCheck: () => async () => true,
    })),
};

/** The last one is missed after a minute of steps. */
it.each(Object.keys(RULES).slice(0, runBudget({ short: 2, long: 3 })))(
  'without the rule %s, the model loses content',
  async (rule) => {
    vi.resetModules();
    RULES[rule]!();
    const { runDamageModel } = await import('./damage-model.ts');
    await expect(runDamageModel(SEED, STEPS_MAX)).rejects.toThrow(
      /: (?:without damage|beside the damage), |: verify does not name /,
    );
  },
  LONG_MS,
);
