import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answer, SLOW_START, type SlowStart, slowStartOn } from './slow-start.ts';

const small = (tookMs: number): Answer => ({
  tookMs,
  isLarge: false,
  isFull: true,
  hasIdleTime: true,
});

/** How the start ends, and how many more requests there are then. */
function answersOf(answers: readonly Answer[], limit = 8) {
  let start: SlowStart = SLOW_START;
  let more = 0;
  for (const answer of answers) {
    const step = slowStartOn(start, answer, limit);
    if (step.is !== 'going') return { ended: step.is, more };
    start = step.start;
    more += step.more;
  }
  return { ended: undefined, more };
}

describe('the slow start', () => {
  it('makes room for three more with each answer that did not queue', () => {
    expect(answersOf(Array.from({ length: 32 }, () => small(10)))).toEqual({ ended: undefined, more: 96 });
  });

  it('makes room for seven more when the latency is high', () => {
    expect(answersOf(Array.from({ length: 32 }, () => small(30)))).toEqual({ ended: undefined, more: 224 });
  });

  it('does not grow for a caller with little work', () => {
    const answers = Array.from({ length: 100 }, () => ({ ...small(30), isFull: false }));
    expect(answersOf(answers)).toEqual({ ended: undefined, more: 0 });
  });

  it('does not grow while this process has no idle time', () => {
    const answers = Array.from({ length: 100 }, () => ({ ...small(30), hasIdleTime: false }));
    expect(answersOf(answers)).toEqual({ ended: undefined, more: 0 });
  });

  it('ends when all answers of a round trip, at least eight, have queued', () => {
    const quick = Array.from({ length: 8 }, () => small(10));
    const queued = Array.from({ length: 7 }, () => small(21));
    expect(answersOf([...quick, ...queued, small(21)])).toEqual({ ended: 'queue', more: 24 });
    expect(answersOf([...quick, ...queued, small(12), ...queued])).toEqual({ ended: undefined, more: 27 });
    const round = [...quick, ...quick, ...queued, small(21), ...queued];
    expect(answersOf(round, 16)).toEqual({ ended: undefined, more: 48 });
    expect(answersOf([...round, small(21)], 16)).toEqual({ ended: 'queue', more: 48 });
  });

  it('leaves large requests to the climb', () => {
    const large = { ...small(500), isLarge: true };
    expect(answersOf([large, small(10), large, large, large])).toEqual({ ended: 'large', more: 3 });
  });

  it('never grows by an answer that took more than twice the minimum', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.1, max: 1000, noNaN: true }), { maxLength: 60 }), (times) => {
        let start: SlowStart = SLOW_START;
        for (const tookMs of times) {
          const leastMs = Math.min(start.leastMs, tookMs);
          const step = slowStartOn(start, small(tookMs), 32);
          if (step.is !== 'going') return;
          expect(step.more > 0).toBe(tookMs <= 2 * leastMs);
          start = step.start;
        }
      }),
    );
  });
});
