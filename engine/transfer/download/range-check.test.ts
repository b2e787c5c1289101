import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import type { ByteRange } from '../../remotes/object-store.ts';
import { flipped, KEY, never, type StoredExample, SUM_KINDS, storedWith } from './download.fixture.ts';
import { openRangeCheck } from './range-check.ts';

beforeAll(loadCrc64);

/** Checks ranges of these lengths, whose bytes arrive in the order of `ranks`. */
async function check(
  example: StoredExample,
  bytes: Uint8Array,
  { lengths, ranks }: { readonly lengths: readonly number[]; readonly ranks: readonly number[] },
): Promise<string> {
  const ranges: ByteRange[] = [];
  for (let start = 0, at = 0; start < bytes.length; at += 1) {
    const end = Math.min(bytes.length, start + (lengths[at] ?? bytes.length));
    ranges.push({ start, end });
    start = end;
  }
  const running = await openRangeCheck({ ...example, key: KEY, signal: never });
  const passes = ranges.map((range, at) => {
    const pass = running.next(range);
    return { rank: ranks[at] ?? 0, start: () => pass(bytes.subarray(range.start, range.end), never) };
  });
  await Promise.all(passes.sort((left, right) => left.rank - right.rank).map(({ start }) => start()));
  return running.finish();
}

describe('a range check', () => {
  it.each(SUM_KINDS)('by %s accepts the content from ranges of any size in any order', async (kind) => {
    const lengths = fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 8 });
    const ranks = fc.array(fc.nat(), { maxLength: 9 });
    const cases = fc.asyncProperty(fc.nat(4_000), lengths, ranks, async (sizeBytes, cut, order) => {
      const bytes = new Uint8Array(randomBytes(sizeBytes));
      const example = await storedWith(kind, bytes);
      expect(await check(example, bytes, { lengths: cut, ranks: order })).toBe(kind);
    });
    await fc.assert(cases, { numRuns: 40 });
  });

  it.each(SUM_KINDS)('by %s finds a differing byte', async (kind) => {
    const bytes = new Uint8Array(randomBytes(3_000));
    const example = await storedWith(kind, bytes);
    const cut = { lengths: [700, 1_300], ranks: [2, 1, 0] };
    for (const at of [0, 700, 2_999])
      await expect(check(example, flipped(bytes, at), cut)).rejects.toMatchObject({
        code: 'damaged',
        data: { key: KEY, by: kind },
      });
  });

  it('reports when only the size is known', async () => {
    const bytes = new Uint8Array(10);
    expect(await check(await storedWith('none', bytes), bytes, { lengths: [], ranks: [] })).toBe('sizes');
  });

  it('releases a waiting range on an abort', async () => {
    const bytes = new Uint8Array(randomBytes(2_000));
    const running = await openRangeCheck({ ...(await storedWith('md5', bytes)), key: KEY, signal: never });
    running.next({ start: 0, end: 1_000 });
    const second = running.next({ start: 1_000, end: 2_000 });
    const stop = new AbortController();
    const waiting = second(bytes.subarray(1_000), stop.signal);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });
});
