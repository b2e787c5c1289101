import { describe, expect, it } from 'vitest';
import { isSparse } from './is-sparse.ts';

const MIB = 1024 * 1024;
const sparse = (sizeBytes: number, diskBytes: number) => isSparse({ sizeBytes, blocks: diskBytes / 512 });

describe('a sparse file', () => {
  it('has a mebibyte and an eighth of its size less on disk', () => {
    expect(sparse(8 * MIB, 7 * MIB)).toBe(true);
    expect(sparse(8 * MIB, 7 * MIB + 512)).toBe(false);
    expect(sparse(80 * MIB, 71 * MIB)).toBe(false);
    expect(sparse(MIB - 512, 0)).toBe(false);
    expect(sparse(100 * MIB, 101 * MIB)).toBe(false);
  });

  it('is not detected where the system reports no blocks', () => {
    expect(isSparse({ sizeBytes: 100 * MIB, blocks: undefined })).toBe(false);
    expect(isSparse({ sizeBytes: 100 * MIB, blocks: Number.NaN })).toBe(false);
  });
});
