import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatObjectTime, parseObjectTime } from './object-time.ts';

const nanoseconds = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe("an object's time", () => {
  it.each([
    [1_700_000_000_123_456_789n, '1700000000.123456789'],
    [1_700_000_000_500_000_000n, '1700000000.5'],
    [1_700_000_000_000_000_000n, '1700000000'],
    [0n, '0'],
    [-500_000_000n, '-0.5'],
  ])('%d is written as rclone writes it', (ns, text) => {
    expect(formatObjectTime(ns)).toBe(text);
    expect(parseObjectTime(text)).toBe(ns);
  });

  it('survives a round trip', () => {
    fc.assert(
      fc.property(nanoseconds, (ns) => parseObjectTime(formatObjectTime(ns)) === ns),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['.5', 500_000_000n],
    ['-.5', -500_000_000n],
    ['5.', 5_000_000_000n],
    ['+5', 5_000_000_000n],
    ['1700000000.1234567891', 1_700_000_000_123_456_789n],
    ['9223372036.854775807', 2n ** 63n - 1n],
  ])('%s is read as rclone reads it', (text, ns) => {
    expect(parseObjectTime(text)).toBe(ns);
  });

  it('is undefined when the text is not a number, or counts milliseconds', () => {
    for (const text of [
      '',
      '.',
      '-',
      '-.',
      'yesterday',
      '1e9',
      '0x10',
      ' 5',
      '1700000000123',
      '9223372036.854775808',
    ])
      expect(parseObjectTime(text), text).toBeUndefined();
  });
});
