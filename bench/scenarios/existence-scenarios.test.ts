import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUnable } from '../entrants/transfer-entrants.ts';
import type { Bench } from '../machines/bench.ts';
import { openSmallBench } from '../machines/small-bench.ts';
import { withoutSlow } from './existence-scenarios.ts';
import type { Scenario } from './scenario.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openSmallBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

it('a tool that is known to be too slow is excluded with the reason; others stay', async () => {
  const fast = { name: 'fast', kind: 'peer', ...createUnable('it is a fake') } as const;
  const scenario: Scenario = {
    name: 'fake',
    title: 'A fake',
    targets: [],
    needs: { holdings: [] },
    open: async () => [fast, { ...fast, name: 'slow' }],
  };
  const field = await withoutSlow(scenario, ['slow', 'not there']).open(bench, 0);
  expect(field.map(({ name, missing }) => [name, missing])).toEqual([
    ['fast', 'it is a fake'],
    ['slow', 'left out: it took over 5 minutes each time it was tried'],
  ]);
  await expect(field[1]?.prepare()).rejects.toThrow('left out');
});
