import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOrderedRuns } from './ordered-runs.ts';

const { signal } = new AbortController();
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('concurrent producers', () => {
  it('return their results in the order of their start, however long each takes', async () => {
    const plans = fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const runs = createOrderedRuns<string>({ signal });
        const results: string[] = [];
        for (let next = 0; ; ) {
          while (next < plan.length && runs.hasRoom) {
            const run = next;
            next += 1;
            runs.start(async (give) => {
              for (const [at, pause] of plan[run]!.entries()) {
                await turns(pause);
                await give(`${run}.${at}`);
              }
            });
          }
          const result = await runs.next();
          if (result !== undefined) results.push(result);
          else if (next >= plan.length) break;
        }
        expect(results).toEqual(plan.flatMap((pauses, run) => pauses.map((_, at) => `${run}.${at}`)));
        await runs[Symbol.asyncDispose]();
      }),
      { numRuns: 40, seed: 11 },
    );
  });

  it('wait before their turn, and stop when the runs are closed', async () => {
    const runs = createOrderedRuns<number>({ signal });
    const given = [0, 0];
    for (const run of [0, 1]) {
      runs.start(async (give) => {
        for (;;) {
          given[run]! += 1;
          await give(given[run]!);
        }
      });
    }
    await turns(3);
    expect(given).toEqual([8, 8]);
    expect(await runs.next()).toBe(1);
    await turns(3);
    expect(given).toEqual([9, 8]);
    await runs[Symbol.asyncDispose]();
    expect(given).toEqual([9, 8]);
  });

  it('report a failure after the results before it', async () => {
    const runs = createOrderedRuns<string>({ signal });
    runs.start(async (give) => {
      await turns(2);
      await give('first');
    });
    runs.start(async (give) => {
      await give('second');
      throw new Error('no third');
    });
    expect(await runs.next()).toBe('first');
    expect(await runs.next()).toBe('second');
    await expect(runs.next()).rejects.toThrow('no third');
    await runs[Symbol.asyncDispose]();
  });

  it('end when the job is aborted', async () => {
    const stop = new AbortController();
    const runs = createOrderedRuns<number>({ signal: stop.signal });
    runs.start(async (give) => {
      for (let at = 0; ; at += 1) {
        await turns(1);
        await give(at);
      }
    });
    expect(await runs.next()).toBe(0);
    stop.abort();
    const rest = async () => {
      for (;;) await runs.next();
    };
    await expect(rest()).rejects.toMatchObject({ code: 'aborted' });
    await runs[Symbol.asyncDispose]();
  });
});
