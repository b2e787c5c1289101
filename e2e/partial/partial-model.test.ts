/**
 * Three workspaces that hold parts of a dataset and one that holds all of it, in random order: edits, pushes,
 * pulls, switches and changes of scope. After each step every file is where a dictionary says: what a
 * workspace does not hold stays on the branch as it was, and nothing that was not pushed is lost.
 *
 * `DRAY_PARTIAL_SEEDS=7,8 DRAY_PARTIAL_STEPS=500` runs others. Every third seed has an encrypted repository.
 */
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { PartialModel } from './partial-model.ts';

const given = process.env.DRAY_PARTIAL_SEEDS?.split(',').map(Number);
const SEEDS = given ?? runBudget({ short: [1, 3], long: [3, 4, 5] });
const STEPS = Number(process.env.DRAY_PARTIAL_STEPS ?? runBudget({ short: 150, long: 2_000 }));

describe('Workspaces that hold parts of a dataset', () => {
  /** How often each outcome happened, over all seeds. */
  const met = new Map<string, number>();

  it.each(SEEDS)('agree with a dictionary, with the seed %i', async (seed) => {
    using sandbox = createSandbox();
    const model = new PartialModel(sandbox, seed);
    await model.start();
    for (let at = 1; at <= STEPS; at += 1) {
      try {
        await model.step();
        if (at % 10 === 0) await model.checkStatus();
        if (at % 100 === 0) await model.checkRepository();
      } catch (error) {
        throw new Error(`seed ${seed}, step ${at}`, { cause: error });
      }
    }
    await model.checkStatus();
    await model.checkRepository();
    for (const [what, count] of model.counts) met.set(what, (met.get(what) ?? 0) + count);
  });

  it('have met everything that can happen', () => {
    const all = ['pushed', 'push merged', 'push refused', 'pulled', 'pull refused', 'switched'];
    all.push(
      'scope changed',
      'scope stopped',
      'pushed at once',
      'forgot',
      'restored',
      'restore of outsideScope',
    );
    // Too rare for a few steps: of two pushes at once either may be first, so a seed does not decide all.
    const rare = ['scope refused', 'gone', 'goneForGood', 'file and folder met'];
    all.push(...runBudget({ short: [], long: rare }));
    console.log([...met].map(([what, count]) => `${what}: ${count}`).join(', '));
    expect(all.filter((what) => !met.has(what))).toEqual([]);
  });
});
