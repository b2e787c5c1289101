import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { joinSums, sumPart } from './part-sums.ts';

beforeAll(loadCrc64);

describe('joinSums', () => {
  it.each(['crc32', 'crc64nvme'] as const)('returns the %s of the whole, wherever it was cut', (kind) => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(pieces, (cut) => {
        const parts = cut.map((piece) => ({ sum: sumPart(kind, piece), sizeBytes: piece.byteLength }));
        expect(joinSums(parts)).toEqual(sumPart(kind, Buffer.concat(cut)));
      }),
    );
  });
});
