import { describe, expect, it } from 'vitest';
import { PART_SIZE_MAX_BYTES, partSizeFor } from './part-size.ts';

describe('partSizeFor', () => {
  it('keeps to 10,000 parts at any size that S3 takes', () => {
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
});
