import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planPackReads } from './pack-reads.ts';

const itemArbitrary = fc.record({ offset: fc.nat(2_000), sizeBytes: fc.integer({ min: 1, max: 200 }) });

describe('planning the reads of a pack', () => {
  it('puts every item into exactly one range and keeps the limits', () => {
    fc.assert(
      fc.property(
        fc.array(itemArbitrary),
        fc.nat(300),
        fc.integer({ min: 1, max: 1_000 }),
        (items, gapBytesMax, rangeBytesMax) => {
          const reads = planPackReads(items, { gapBytesMax, rangeBytesMax });
          const planned = reads.flatMap((read) => read.items);
          expect(planned).toHaveLength(items.length);
          expect(new Set(planned)).toEqual(new Set(items));
          for (const read of reads) {
            for (const item of read.items) {
              expect(item.offset).toBeGreaterThanOrEqual(read.start);
              expect(item.offset + item.sizeBytes).toBeLessThanOrEqual(read.end);
            }
            const largest = Math.max(...read.items.map((item) => item.sizeBytes));
            expect(read.end - read.start).toBeLessThanOrEqual(Math.max(rangeBytesMax, largest));
          }
        },
      ),
    );
  });

  it('joins neighbours across a small gap and not across a large one', () => {
    const items = [
      { offset: 100, sizeBytes: 10 },
      { offset: 0, sizeBytes: 10 },
      { offset: 15, sizeBytes: 5 },
    ];
    const reads = planPackReads(items, { gapBytesMax: 8, rangeBytesMax: 1_000 });
    expect(reads.map(({ start, end }) => [start, end])).toEqual([
      [0, 20],
      [100, 110],
    ]);
  });

  it('reads of a compressed blob what the pack has of it', () => {
    const items = [
      { offset: 0, sizeBytes: 1_000, storedBytes: 10 },
      { offset: 10, sizeBytes: 5 },
    ];
    const reads = planPackReads(items, { gapBytesMax: 0, rangeBytesMax: 100 });
    expect(reads.map(({ start, end }) => [start, end])).toEqual([[0, 15]]);
  });

  it('reads a whole pack in ranges of the given size', () => {
    const items = Array.from({ length: 1_000 }, (_, index) => ({ offset: index * 10, sizeBytes: 10 }));
    const reads = planPackReads(items, { gapBytesMax: 0, rangeBytesMax: 4_000 });
    expect(reads.map(({ start, end }) => [start, end])).toEqual([
      [0, 4_000],
      [4_000, 8_000],
      [8_000, 10_000],
    ]);
  });
});
