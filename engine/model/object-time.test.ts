import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatObjectTime, parseObjectTime, timesEqual } from './object-time.ts';

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
    expect(parseObjectTime(text)?.ns).toBe(ns);
  });

  it('comes back as it was, whatever it is', () => {
    fc.assert(
      fc.property(nanoseconds, (ns) => parseObjectTime(formatObjectTime(ns))?.ns === ns),
      { numRuns: 1_000 },
    );
  });

  it('is none when the text is no number', () => {
    for (const text of ['', 'yesterday', '1e9', '1.', '.5', '0x10', '123456789012']) {
      expect(parseObjectTime(text), text).toBeUndefined();
    }
  });

  it('equals another to the precision of the coarser one', () => {
    const exact = { ns: 1_700_000_000_123_456_789n, digits: 9 };
    expect(timesEqual(exact, { ns: 1_700_000_000_123_000_000n, digits: 3 })).toBe(true);
    expect(timesEqual(exact, { ns: 1_700_000_000_124_000_000n, digits: 3 })).toBe(false);
    expect(timesEqual(exact, { ns: exact.ns + 1n, digits: 9 })).toBe(false);
  });
});
