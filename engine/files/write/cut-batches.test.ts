import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlobHash } from '../../model/entry.ts';
import { cutBatches } from './cut-batches.ts';
import type { PackedFile } from './tree-writer-types.ts';

const MIB = 1024 * 1024;

function item(at: number, offset: number, sizeBytes: number): PackedFile {
  return { path: `${at}`, offset, sizeBytes, mtimeNs: 0n, executable: false, blob: '' as BlobHash };
}

describe('batches of files', () => {
  it('contain every file once with its bytes, in bounded batches (property)', () => {
    const bytes = new Uint8Array(12 * MIB).map((_, at) => at % 251);
    const range = fc.record({
      offset: fc.nat({ max: bytes.length - 1 }),
      sizeBytes: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 5 * MIB })),
    });
    const ranges = fc.oneof(
      fc.array(range, { maxLength: 40 }),
      fc.array(fc.record({ offset: fc.nat({ max: 1000 }), sizeBytes: fc.constant(1) }), {
        minLength: 600,
        maxLength: 900,
      }),
    );
    fc.assert(
      fc.property(ranges, (all) => {
        const items = all.map(({ offset, sizeBytes }, at) =>
          item(at, offset, Math.min(sizeBytes, bytes.length - offset)),
        );
        const batches = cutBatches(bytes, items);
        const seen = batches.flatMap((batch) => batch.items);
        expect(new Set(seen)).toEqual(new Set(items));
        expect(seen.length).toBe(items.length);
        for (const batch of batches) {
          expect(batch.items.length).toBeLessThanOrEqual(512);
          const largest = Math.max(...batch.items.map((one) => one.sizeBytes));
          if (batches.length > 1) expect(batch.bytes.length).toBeLessThanOrEqual(Math.max(4 * MIB, largest));
          for (const { offset, sizeBytes } of batch.items) {
            const at = offset - batch.bytesStart;
            expect(
              Buffer.compare(
                batch.bytes.subarray(at, at + sizeBytes),
                bytes.subarray(offset, offset + sizeBytes),
              ),
            ).toBe(0);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('pass a buffer on uncopied when one batch holds all of it', () => {
    const bytes = new Uint8Array(20 * MIB);
    expect(cutBatches(bytes, [item(0, 0, bytes.length)])[0]!.bytes).toBe(bytes);
    expect(cutBatches(bytes, [])).toEqual([]);
  });

  it('copy no bytes of shared memory', () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(10 * MIB));
    const batches = cutBatches(bytes, [item(0, 0, 3 * MIB), item(1, 3 * MIB, 3 * MIB)]);
    expect(batches.map(({ bytesStart }) => bytesStart)).toEqual([0, 3 * MIB]);
    for (const batch of batches) {
      expect(batch.bytes.buffer).toBe(bytes.buffer);
      expect(batch.bytes.byteOffset).toBe(batch.bytesStart);
    }
  });
});
