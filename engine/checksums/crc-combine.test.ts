import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { combineCrc32, combineCrc64 } from './crc-combine.ts';
import { crc64Nvme, loadCrc64 } from './crc64-nvme.ts';

beforeAll(loadCrc64);

const bytes = fc.uint8Array({ maxLength: 3000 });

describe('joining the sums of pieces', () => {
  it('gives the sum of both in a row (property)', () => {
    fc.assert(
      fc.property(bytes, bytes, (first, second) => {
        const both = Buffer.concat([first, second]);
        expect(combineCrc64(crc64Nvme(first), crc64Nvme(second), second.length)).toBe(crc64Nvme(both));
        expect(combineCrc32(crc32(first), crc32(second), second.length)).toBe(crc32(both));
      }),
    );
  });

  it('does not depend on what is joined first (property)', () => {
    const piece = fc.record({
      sum: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      length: fc.nat({ max: 2 ** 31 - 1 }),
    });
    fc.assert(
      fc.property(piece, piece, piece, (a, b, c) => {
        const left = combineCrc64(combineCrc64(a.sum, b.sum, b.length), c.sum, c.length);
        expect(left).toBe(combineCrc64(a.sum, combineCrc64(b.sum, c.sum, c.length), b.length + c.length));
      }),
    );
  });

  it('takes a piece of nothing for nothing', () => {
    expect(combineCrc64(5n, 0n, 0)).toBe(5n);
    expect(combineCrc64(0n, 5n, 1234)).toBe(5n);
    expect(combineCrc32(0, 0xffffffff, 77)).toBe(0xffffffff);
  });

  it('counts lengths beyond 32 bits: 5 TiB in one step as in two', () => {
    const half = 2.5 * 2 ** 40;
    expect(combineCrc64(1n, 0n, 2 * half)).toBe(combineCrc64(combineCrc64(1n, 0n, half), 0n, half));
  });
});
