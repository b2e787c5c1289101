import { describe, expect, it } from 'vitest';
import { createPace } from './pace.ts';

describe('the pace of a range', () => {
  it('halves when the store asks for fewer requests, but never stops', () => {
    const pace = createPace(16);
    pace.slowDown(16);
    expect(pace.atOnce()).toBe(8);
    // Fewer ran than it allowed.
    pace.slowDown(2);
    expect(pace.atOnce()).toBe(1);
    pace.slowDown(1);
    expect(pace.atOnce()).toBe(1);
  });

  it('grows by one with each round of parts, up to its limit', () => {
    const pace = createPace(4);
    pace.slowDown(4);
    const after = Array.from({ length: 8 }, () => {
      pace.partDone();
      return pace.atOnce();
    });
    expect(after).toEqual([2, 3, 3, 3, 4, 4, 4, 4]);
  });
});
