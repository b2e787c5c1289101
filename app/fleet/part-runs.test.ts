import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRuns, parseRuns } from './part-runs.ts';

describe('sets of part numbers', () => {
  it('are written as runs', () => {
    expect(formatRuns([7, 0, 1, 2, 3])).toBe('0-3,7');
    expect(formatRuns([])).toBe('');
    expect(parseRuns('0-3,7')).toEqual([0, 1, 2, 3, 7]);
  });

  it('are the same after they were written and read', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(10_000)), (numbers) => {
        expect(parseRuns(formatRuns(numbers))).toEqual(numbers.toSorted((left, right) => left - right));
      }),
    );
  });
});
