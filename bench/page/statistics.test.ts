import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitExponent, medianOf, spreadOf } from './statistics.ts';

const someNumbers = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 30 });

describe('The median', () => {
  it('is the middle value, or halfway between the two in the middle', () => {
    expect(medianOf([7])).toBe(7);
    expect(medianOf([30, 1, 20])).toBe(20);
    expect(medianOf([10, 2, 1, 4])).toBe(3);
  });

  it('has as many values below as above in any order', () => {
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

  it('lies within the spread of the values', () => {
    fc.assert(
      fc.property(someNumbers, (values) => {
        const { median, least, most } = spreadOf(values);
        expect([least, most]).toEqual([Math.min(...values), Math.max(...values)]);
        expect(median).toBeGreaterThanOrEqual(least);
        expect(median).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('is an error for no values', () => {
    expect(() => spreadOf([])).toThrow(RangeError);
  });
});

describe('A fitted exponent', () => {
  it("is the power's, whatever its factor", () => {
    const anExponent = fc.double({ min: -3, max: 3, noNaN: true });
    const aFactor = fc.double({ min: 0.001, max: 1_000, noNaN: true });
    const sizes = fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(anExponent, aFactor, sizes, (exponent, factor, counts) => {
        const points = counts.map((files) => ({ files, time: factor * files ** exponent }));
        expect(fitExponent(points)).toBeCloseTo(exponent, 6);
      }),
    );
  });

  it('ignores zero times, and needs more than one size', () => {
    const points = [
      { files: 10, time: -1 },
      { files: 100, time: 1 },
      { files: 1_000, time: 10 },
    ];
    expect(fitExponent(points)).toBeCloseTo(1, 9);
    expect(fitExponent(points.slice(0, 2))).toBeNull();
    expect(
      fitExponent([
        { files: 5, time: 1 },
        { files: 5, time: 2 },
      ]),
    ).toBeNull();
    expect(fitExponent([])).toBeNull();
  });
});
