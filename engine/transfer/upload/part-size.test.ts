import { describe, expect, it } from 'vitest';
import { canBeParts, PART_SIZE_MAX_BYTES, partSizeFor } from './part-size.ts';

describe('partSizeFor', () => {
  it('keeps to 10,000 parts at any size that S3 accepts', () => {
    const mib = 1024 * 1024;
    expect(partSizeFor(1)).toBe(8 * mib);
    expect(partSizeFor(512 * mib)).toBe(16 * mib);
    expect(partSizeFor(5 * 1024 ** 4)).toBeLessThanOrEqual(PART_SIZE_MAX_BYTES);
    for (const sizeBytes of [80_000 * mib, 80_000 * mib + 1, 1024 ** 4, 5 * 1024 ** 4]) {
      const partSizeBytes = partSizeFor(sizeBytes);
      expect(Math.ceil(sizeBytes / partSizeBytes)).toBeLessThanOrEqual(10_000);
      expect(partSizeBytes % mib).toBe(0);
    }
  });

  it('uses more than 10,000 parts when the store limits their size', () => {
    const mib = 1024 * 1024;
    const bytesMax = 64 * mib;
    expect(partSizeFor(100 * mib, undefined, bytesMax)).toBe(8 * mib);
    expect(partSizeFor(100 * mib, 128 * mib, bytesMax)).toBe(bytesMax);
    expect(partSizeFor(300_000 * mib, undefined, bytesMax)).toBe(30 * mib);
    for (const sizeBytes of [700e9, 1024 ** 4, 20 * 1024 ** 4])
      expect(partSizeFor(sizeBytes, undefined, bytesMax)).toBe(bytesMax);
    expect(canBeParts(bytesMax, 700e9, {})).toBe(false);
    expect(canBeParts(bytesMax, 600e9, {})).toBe(true);
    expect(canBeParts(bytesMax, 700e9, { partBytesMax: bytesMax })).toBe(true);
    expect(canBeParts(bytesMax + 1, 700e9, { partBytesMax: bytesMax })).toBe(false);
  });
});
