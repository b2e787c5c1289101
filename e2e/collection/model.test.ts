/**
 * The collection of garbage beside pushes, tags and clones, in very many orders: Dray's own code over a store
 * in memory, with kills, lost answers, and requests that arrive long after their sender has died. After each
 * order every ref must be whole, also after another collection and after what killed processes had sent.
 *
 * Only the writers' content is stored by a shorter code than that of a push (`actors.ts`). `dray push` does
 * not fit: it scans a folder and reads files in threads, so nobody can tell when every machine waits for a
 * request (`scheduler.ts`), and each order would need a folder and an index for each machine.
 * `chaos.test.ts` has whole pushes.
 */
import { describe, expect, it, vi } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { drawFrom } from '../seeded-draw.ts';
import { exploreAll, randomChoice } from './explore.ts';
import { rawZstd } from './raw-zstd.ts';
import { drawCrowd, runScenario, SCENARIOS } from './scenarios.ts';

vi.mock('node:zlib', async (original) => ({
  ...(await original<typeof import('node:zlib')>()),
  ...rawZstd(),
}));

const FAULTS = { kills: true, losses: true };
const CROWD_RUNS = runBudget({ short: 120, long: 5_000, full: 100_000 });
/** One of each kind. */
const SHORT = [
  'a push of content that is about to be collected',
  'a push that merges',
  'a tag of a commit that no ref names',
  'a branch that is removed and made again',
  'two collectors, and content that comes back',
  'a push on a commit that is forgotten meanwhile',
  'a repair beside a collection',
  'a push to a new branch of content whose key is retired',
  'a push on a commit whose pack is replaced',
  'a clone of a commit whose pack is replaced',
];
const TRIED = runBudget<readonly string[]>({ short: SHORT, long: Object.keys(SCENARIOS) });
const TRIED_TWICE = runBudget<readonly string[]>({
  short: [],
  long: SHORT.slice(0, 4),
  full: Object.keys(SCENARIOS),
});
/** 100,000 random orders take 35 minutes on two idle cores, and twice that on busy ones. */
const LONG_MS = 3 * 60 * 60_000;

describe('a collection beside others keeps every ref whole', () => {
  const explore = (name: string, deviations: number) =>
    exploreAll(async (choose) => void (await runScenario(SCENARIOS[name]!, choose, FAULTS)), { deviations });

  it.each(TRIED)('in each order with one switch or fault: %s', async (name) => {
    expect(await explore(name, 1)).toBeGreaterThan(30);
  });

  // Some thousand orders each: three switches or faults would be a hundred thousand.
  for (const name of TRIED_TWICE) {
    longIt(
      `in each order with two switches or faults: ${name}`,
      async () => {
        expect(await explore(name, 2)).toBeGreaterThan(500);
      },
      LONG_MS,
    );
  }

  it(
    `in ${CROWD_RUNS} random orders of four machines`,
    async () => {
      for (let seed = 0; seed < CROWD_RUNS; seed += 1) {
        const { below } = drawFrom(seed);
        const random = () => below(2 ** 30) / 2 ** 30;
        await runScenario(drawCrowd(4, random), randomChoice(random), FAULTS).catch((cause: Error) => {
          throw new Error(`Seed ${seed}: ${cause.message}`, { cause });
        });
      }
    },
    LONG_MS,
  );
});
