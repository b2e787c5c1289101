import { describe, expect, it } from 'vitest';
import { createPace } from './pace.ts';

describe('the pace of a range', () => {
  it('halves when the store asks for fewer requests, but never stops', async () => {
    const pace = createPace(16);
    const steps = runSteps(pace, 16);
    pace.slowDown();
    expect(pace.atOnce()).toBe(8);
    await steps.end(14);
    // Fewer run than it allows.
    pace.slowDown();
    expect(pace.atOnce()).toBe(1);
    await steps.end(1);
    pace.slowDown();
    expect(pace.atOnce()).toBe(1);
  });

  it('halves once for all workers that meet the same congestion', async () => {
    const pace = createPace(16);
    const steps = runSteps(pace, 16);
    for (let worker = 0; worker < 20; worker += 1) pace.slowDown();
    expect(pace.atOnce()).toBe(8);
    await steps.end(7);
    pace.slowDown();
    expect(pace.atOnce()).toBe(8);
    await steps.end(1);
    pace.slowDown();
    expect(pace.atOnce()).toBe(4);
  });

  it('halves once for all workers before its first step', () => {
    const pace = createPace(16);
    for (let worker = 0; worker < 20; worker += 1) pace.slowDown();
    expect(pace.atOnce()).toBe(8);
  });

  it('grows by one with each round of steps, up to its limit', async () => {
    const pace = createPace(4, 2);
    const steps = runSteps(pace, 8);
    const after: number[] = [];
    for (let step = 0; step < 8; step += 1) {
      await steps.end(1);
      after.push(pace.atOnce());
    }
    expect(after).toEqual([2, 3, 3, 3, 4, 4, 4, 4]);
  });

  it('does not grow by the steps that a halving waits for', async () => {
    const pace = createPace(4);
    const steps = runSteps(pace, 4);
    pace.slowDown();
    await steps.end(2);
    expect(pace.atOnce()).toBe(2);
    await steps.end(2);
    expect(pace.atOnce()).toBe(3);
  });

  it('counts a step that fails as ended', async () => {
    const pace = createPace(4, 1);
    await expect(pace.during(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(pace.atOnce()).toBe(2);
  });
});

function runSteps(pace: ReturnType<typeof createPace>, count: number) {
  const steps = Array.from({ length: count }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { ended: pace.during(() => promise), resolve };
  });
  return {
    /** Ends the oldest ones. */
    async end(endCount: number) {
      for (const { ended, resolve } of steps.splice(0, endCount)) {
        resolve();
        await ended;
      }
    },
  };
}
