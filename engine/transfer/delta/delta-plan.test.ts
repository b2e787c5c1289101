import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { totalBytes } from '../../model/delta-sides.ts';
import { batchRanges, DELTA_RANGE_BYTES_MAX, planContent, planSegment } from './delta-plan.ts';

const DIGEST_BYTES = 4;

/** Each number is a block and its digest. 0 is a block of zeros. */
function digestsOf(blocks: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(blocks).buffer);
}

const blocks = fc.array(fc.nat(3), { maxLength: 30 });

describe('planSegment', () => {
  it('accounts for each block once, and replaces each one that differs', () => {
    const property = fc.property(
      blocks,
      blocks,
      fc.constantFrom(512, 1000, DELTA_RANGE_BYTES_MAX / 2),
      fc.constantFrom('old', 'zeros'),
      fc.nat(5),
      (now, old, blockBytes, starts, segment) => {
        const start = segment * blockBytes;
        const end = start + now.length * blockBytes;
        const target = old.slice(0, now.length);
        const plan = planSegment({
          ...{ start, end, blockBytes, starts, digestBytes: DIGEST_BYTES },
          source: digestsOf(now),
          target: digestsOf(target),
          targetEnd: start + target.length * blockBytes,
          zero: digestsOf([0]),
        });
        const result = now.map((_, index) => (starts === 'old' ? (target[index] ?? 0) : 0));
        const at = (offset: number) => (offset - start) / blockBytes;
        for (let move = 0; move < plan.copied.length; move += 3) {
          const [from, to, length] = plan.copied.subarray(move, move + 3) as unknown as [
            number,
            number,
            number,
          ];
          expect(from).toBe(to);
          for (let block = at(from); block < at(from + length); block += 1) result[block] = target[block]!;
        }
        let last = -1;
        for (let range = 0; range < plan.different.length; range += 2) {
          const [from, to] = [plan.different[range]!, plan.different[range + 1]!];
          expect(from).toBeGreaterThanOrEqual(last);
          expect(to - from).toBeLessThanOrEqual(DELTA_RANGE_BYTES_MAX);
          for (let block = at(from); block < at(to); block += 1) result[block] = now[block]!;
          last = to;
        }
        for (let range = 0; range < plan.cleared.length; range += 2)
          for (let block = at(plan.cleared[range]!); block < at(plan.cleared[range + 1]!); block += 1)
            result[block] = 0;
        expect(result).toEqual(now);
        expect(totalBytes(plan.different)).toBe(
          now.filter((block, index) => block !== 0 && block !== target[index]).length * blockBytes,
        );
        expect(totalBytes(plan.different)).toBe(plan.differentBytes);
        expect(plan.sameBytes + plan.differentBytes).toBe(end - start);
        const differing = now.filter((block, index) => block !== (target[index] ?? (block === 0 ? 0 : -1)));
        expect(plan.differentBytes).toBeLessThanOrEqual(differing.length * blockBytes);
        const batches = batchRanges(plan.different, DELTA_RANGE_BYTES_MAX);
        expect(batches.flatMap(({ ranges }) => [...ranges])).toEqual([...plan.different]);
        for (const { bytes, ranges } of batches) {
          expect(bytes).toBe(totalBytes(ranges));
          expect(bytes).toBeLessThanOrEqual(DELTA_RANGE_BYTES_MAX);
        }
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});

describe('planContent', () => {
  it('builds the source from sent and copied chunks, and sends no chunk that the target has', () => {
    const chunks = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 40 });
    const property = fc.property(chunks, chunks, (now, old) => {
      const cut = (list: readonly number[]) => ({
        lengths: Uint32Array.from(list),
        digests: digestsOf(list),
      });
      const bytesOf = (list: readonly number[]) =>
        list.flatMap((length) => Array<number>(length).fill(length));
      const plan = planContent(cut(now), cut(old), DIGEST_BYTES);
      const [wanted, held] = [bytesOf(now), bytesOf(old)];
      const result = wanted.map(() => 0);
      for (let range = 0; range < plan.sent.length; range += 2)
        for (let at = plan.sent[range]!; at < plan.sent[range + 1]!; at += 1) result[at] = wanted[at]!;
      for (let move = 0; move < plan.copied.length; move += 3)
        for (let at = 0; at < plan.copied[move + 2]!; at += 1)
          result[plan.copied[move + 1]! + at] = held[plan.copied[move]! + at]!;
      expect(result).toEqual(wanted);
      const missing = now.filter((chunk) => !old.includes(chunk));
      expect(plan.sentBytes).toBe(bytesOf(missing).length);
      expect(plan.sentBytes + plan.copiedBytes).toBe(wanted.length);
      expect(plan.digests).toEqual(Buffer.from(digestsOf(missing)));
    });
    fc.assert(property, { numRuns: 500 });
  });
});
