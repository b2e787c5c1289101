import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatTimeOfDay,
  joinRate,
  limitedSpans,
  parseTimeOfDay,
  refuseAmount,
  splitRate,
} from './bandwidth.ts';

describe('A limit of bandwidth', () => {
  it('is shown in the largest unit that fits', () => {
    expect(splitRate(512)).toEqual({ amount: 0.5, unit: 'KiB/s' });
    expect(splitRate(10 * 1024 ** 2)).toEqual({ amount: 10, unit: 'MiB/s' });
    expect(splitRate(2.5 * 1024 ** 3)).toEqual({ amount: 2.5, unit: 'GiB/s' });
  });

  it('survives a round trip, to a hundredth of its unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999 }), (hundredths) => {
        const { amount, unit } = splitRate(joinRate(hundredths / 100, 'MiB/s'));
        expect(joinRate(amount, unit) / joinRate(hundredths / 100, 'MiB/s')).toBeCloseTo(1, 1);
      }),
    );
  });

  it('is refused if the engine would refuse it', () => {
    for (const text of ['', ' ', 'x', '0', '-1', 'Infinity', '0.5'])
      expect(refuseAmount(text, 'KiB/s'), text).toBeTypeOf('string');
    expect(refuseAmount('1', 'KiB/s')).toBeUndefined();
    expect(refuseAmount('0.5', 'MiB/s')).toBeUndefined();
  });
});

describe('A time of day', () => {
  it('is read and written as hours and minutes', () => {
    for (let minutes = 0; minutes < 1440; minutes += 1)
      expect(parseTimeOfDay(formatTimeOfDay(minutes))).toBe(minutes);
    for (const text of ['', '24:00', '12:60', '9', 'noon']) expect(parseTimeOfDay(text)).toBeUndefined();
  });

  it('makes two spans if the limit applies over midnight', () => {
    expect(limitedSpans(540, 1020)).toEqual([{ from: 540, to: 1020 }]);
    expect(limitedSpans(1320, 360)).toEqual([
      { from: 0, to: 360 },
      { from: 1320, to: 1440 },
    ]);
    expect(limitedSpans(1320, 0)).toEqual([{ from: 1320, to: 1440 }]);
    expect(limitedSpans(undefined, undefined)).toEqual([{ from: 0, to: 1440 }]);
  });
});
