import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClimbState, climbDown, climbOn, settleAt, startClimb } from './climb.ts';

/** Climbs a hill with a given throughput at each limit, for a number of windows. */
function climb(
  rateAt: (limit: number) => number,
  windows: number,
  bounds = { min: 2, max: 64 },
): readonly ClimbState[] {
  const states = [startClimb(12, bounds)];
  for (let window = 0; window < windows; window += 1) {
    const state = states.at(-1) as ClimbState;
    states.push(climbOn(state, { rate: rateAt(state.limit), hasQueue: true }, bounds));
  }
  return states;
}

const limitsOf = (states: readonly ClimbState[]) => states.map((state) => state.limit);

describe('the climb', () => {
  it('doubles to the top when all concurrency pays', () => {
    expect(limitsOf(climb((limit) => limit, 3))).toEqual([12, 24, 48, 64]);
  });

  it('steps back at once when more has no effect, and then finds the smallest equal limit', () => {
    const limits = limitsOf(climb(() => 1, 40));
    expect(limits.slice(0, 3)).toEqual([12, 24, 12]);
    expect(Math.max(...limits.slice(-10))).toBeLessThanOrEqual(3);
  });

  it('settles around the knee of any hill that rises to one and is flat from there', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 60 }), (knee) => {
        const limits = limitsOf(climb((limit) => Math.min(limit, knee), 400)).slice(-200);
        const mean = limits.reduce((total, limit) => total + limit, 0) / limits.length;
        expect(mean).toBeGreaterThan(0.8 * knee);
        expect(mean).toBeLessThan(1.6 * knee + 2);
      }),
    );
  });

  it('never leaves its bounds, whatever happens', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.record({ rate: fc.double({ min: 0.001, max: 1e6, noNaN: true }), hasQueue: fc.boolean() }),
            fc.constantFrom('retry' as const, 'backoff' as const),
          ),
          {
            maxLength: 200,
          },
        ),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 100 }),
        (steps, min, room) => {
          const bounds = { min, max: min + room };
          let state = startClimb(12, bounds);
          for (const step of steps) {
            state = typeof step === 'object' ? climbOn(state, step, bounds) : climbDown(state, step, bounds);
            expect(Number.isInteger(state.limit)).toBe(true);
            expect(state.limit).toBeGreaterThanOrEqual(bounds.min);
            expect(state.limit).toBeLessThanOrEqual(bounds.max);
          }
        },
      ),
    );
  });

  it('recovers from a cut to slightly below where it happened', () => {
    const bounds = { min: 2, max: 64 };
    let state = climbDown(startClimb(40, bounds), 'backoff', bounds);
    expect(state.limit).toBe(20);
    const limits: number[] = [];
    while (state.mode.is === 'recover') {
      state = climbOn(state, { rate: state.limit, hasQueue: true }, bounds);
      limits.push(state.limit);
    }
    expect(limits.at(-1)).toBe(32);
    expect(limits.length).toBeLessThan(10);
  });

  it('tries fewer only when there is a queue; otherwise twice as many, ever more rarely', () => {
    const bounds = { min: 2, max: 256 };
    const limitsAfter = (hasQueue: boolean) => {
      let state = settleAt(64);
      const limits: number[] = [];
      for (let window = 0; window < 60; window += 1) {
        // A hill that is flat from 64 on.
        state = climbOn(state, { rate: Math.min(state.limit, 64), hasQueue }, bounds);
        if (limits.at(-1) !== state.limit) limits.push(state.limit);
      }
      return limits;
    };
    expect(Math.min(...limitsAfter(true))).toBe(48);
    expect(limitsAfter(false)).toEqual([64, 128, 64, 128, 64, 128, 64, 128, 64, 128, 64]);
  });
});
