/**
 * Damage beside a collection, by a random model (`damage-model.ts`). `npm test` takes some hundred steps, at
 * 6 ms each. A long run takes as many as a variable says, and repeats exactly for the same seed:
 *
 *     DRAY_MODEL_STEPS=100000 DRAY_MODEL_SEED=7 npx vitest run --config .vitest.config.ts \
 *       e2e/collection/damage.test.ts
 */
import { expect, it, vi } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { runDamageModel } from './damage-model.ts';

vi.mock('node:zlib', async (original) => ({
  ...(await original<typeof import('node:zlib')>()),
  ...(await import('./raw-zstd.ts')).rawZstd(),
}));

const { DRAY_MODEL_SEED = '1', DRAY_MODEL_STEPS } = process.env;
const STEPS = Number(DRAY_MODEL_STEPS ?? runBudget({ short: 480, long: 20_000 }));
const LONG_MS = 10 * 60 * 60_000;

it(
  `in ${STEPS} steps, no live content is lost because another object is damaged`,
  async () => {
    const counts = await runDamageModel(Number(DRAY_MODEL_SEED), STEPS);
    for (const kind of ['objects', 'packs', 'commits', 'manifests', 'relocations', 'dray.json'])
      expect([...counts.keys()].filter((what) => what.endsWith(kind))).not.toEqual([]);
    expect([...counts.keys()]).toContain('lose refs');
  },
  LONG_MS,
);
