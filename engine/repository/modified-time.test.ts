import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatModifiedTime, parseModifiedTime } from './modified-time.ts';

describe('a modification time', () => {
  it('survives a round trip, before and after 1970', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (mtimeNs) => {
        expect(parseModifiedTime(formatModifiedTime(mtimeNs))).toBe(mtimeNs);
      }),
    );
  });

  it('counts its fraction forward, so that half a second before 1970 is one and a half', () => {
    expect(formatModifiedTime(-500_000_000n)).toBe('-1.500000000');
    expect(formatModifiedTime(-1n)).toBe('-1.999999999');
    expect(formatModifiedTime(-1_000_000_000n)).toBe('-1.000000000');
    expect(formatModifiedTime(0n)).toBe('0.000000000');
    expect(formatModifiedTime(1n)).toBe('0.000000001');
    expect(formatModifiedTime(1_700_000_000_123_456_789n)).toBe('1700000000.123456789');
  });

  it('is stored as the nearest bound when it does not fit 64 bits', () => {
    expect(parseModifiedTime(formatModifiedTime(2n ** 70n))).toBe(2n ** 63n - 1n);
    expect(parseModifiedTime(formatModifiedTime(-(2n ** 70n)))).toBe(-(2n ** 63n));
  });

  it('has exactly one accepted form', () => {
    const others = [
      '',
      '1',
      '1.5',
      '01.000000000',
      '-0.500000000',
      '+1.000000000',
      '1.0000000000',
      ' 1.000000000',
    ];
    for (const text of [
      ...others,
      '9999999999.000000000',
      '-9999999999.000000000',
      '1e3.000000000',
      1,
      null,
    ]) {
      expect(parseModifiedTime(text)).toBeUndefined();
    }
  });
});
