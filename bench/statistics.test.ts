import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { medianOf, spreadOf } from './statistics.ts';

const someNumbers = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 30 });

describe('the median', () => {
  it('is the middle value, or halfway between the two in the middle', () => {
    expect(medianOf([7])).toBe(7);
    expect(medianOf([30, 1, 20])).toBe(20);
    expect(medianOf([10, 2, 1, 4])).toBe(3);
  });

  it('has as many values below as above, whatever their order', () => {
    fc.assert(
      fc.property(someNumbers, (values) => {
        const { median } = spreadOf(values);
        const below = values.filter((value) => value < median).length;
        const above = values.filter((value) => value > median).length;
        expect(below).toBeLessThanOrEqual(values.length / 2);
        expect(above).toBeLessThanOrEqual(values.length / 2);
        expect(medianOf(values.toReversed())).toBe(median);
      }),
    );
  });

  it('lies within the spread, which is that of the values', () => {
    fc.assert(
      fc.property(someNumbers, (values) => {
        const { median, least, most } = spreadOf(values);
        expect([least, most]).toEqual([Math.min(...values), Math.max(...values)]);
        expect(median).toBeGreaterThanOrEqual(least);
        expect(median).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('of nothing is an error and not a number', () => {
    expect(() => spreadOf([])).toThrow(RangeError);
  });
});
