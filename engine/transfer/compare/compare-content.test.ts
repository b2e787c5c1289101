import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectInfo } from '../../remotes/object-store.ts';
import {
  flipped,
  headOf,
  KEY,
  memoryOf,
  never,
  putInParts,
  type StoredExample,
  SUM_KINDS,
  storedWith,
} from '../download/download.fixture.ts';
import { bytesSource } from '../upload/upload.fixture.ts';
import { compareByReading, compareFileWithObject, compareObjects } from './compare-content.ts';

beforeAll(loadCrc64);

const bytes = new Uint8Array(randomBytes(10_500));
const MIB = 1024 * 1024;

describe('compareObjects', () => {
  it.each(SUM_KINDS)('compares by %s when both stores keep it', async (kind) => {
    const one = await storedWith(kind, bytes);
    expect(compareObjects(one, await storedWith(kind, bytes))).toEqual({ result: 'same', by: kind });
    const other = compareObjects(one, await storedWith(kind, flipped(bytes, 0)));
    // Different parts can be the same content cut at other offsets.
    expect(other).toEqual(
      kind === 'md5OfParts' ? { result: 'uncertain', by: 'sizes' } : { result: 'differs', by: kind },
    );
  });

  it('needs no sums for different sizes, and is uncertain without a common one', async () => {
    const one = await storedWith('crc64nvme', bytes);
    const shorter = await storedWith('crc64nvme', bytes.subarray(1));
    expect(compareObjects(one, shorter)).toEqual({ result: 'differs', by: 'sizes' });
    for (const kind of ['none', 'md5OfParts'] as const)
      expect(compareObjects(one, await storedWith(kind, bytes))).toEqual({
        result: 'uncertain',
        by: 'sizes',
      });
  });

  it('finds a common sum behind better ones that only one store keeps', async () => {
    const one = await storedWith('crc64nvme', bytes);
    const other = await storedWith('md5', bytes);
    expect(compareObjects(one, other)).toEqual({ result: 'same', by: 'md5' });
    expect(compareObjects(other, await storedWith('crc64nvme', flipped(bytes, 9)))).toEqual({
      result: 'differs',
      by: 'md5',
    });
  });

  it('does not treat differently cut parts as different content', async () => {
    const one = await storedWith('md5OfParts', bytes, { partBytes: 1_000 });
    const other = await storedWith('md5OfParts', bytes, { partBytes: 2_000 });
    expect(compareObjects(one, other).result).toBe('uncertain');
  });

  it('compares a single part with an object put in one request', async () => {
    const part = await storedWith('md5OfParts', bytes, { partBytes: 20_000 });
    const put = await storedWith('md5', bytes);
    const other = await storedWith('md5', flipped(bytes, 1));
    expect(compareObjects(part, put)).toEqual({ result: 'same', by: 'md5OfParts' });
    expect(compareObjects(put, part)).toEqual({ result: 'same', by: 'md5OfParts' });
    expect(compareObjects(part, other)).toEqual({ result: 'differs', by: 'md5OfParts' });
  });

  it('does not compare etags that are not MD5s, and accepts equal SHA-256 of parts as proof', () => {
    const store = createMemoryStore();
    const info = { key: KEY, sizeBytes: 1, modifiedMs: 0, etag: 'f'.repeat(32), etagIsOpaque: true } as const;
    const plain: ObjectInfo = { ...info, checksums: { covers: 'ofParts', sha256: 'x-3' } };
    const right = { store, info: plain };
    expect(compareObjects({ store, info }, right).result).toBe('uncertain');
    expect(compareObjects(right, right)).toEqual({ result: 'same', by: 'sha256' });
    const other: ObjectInfo = { ...info, checksums: { covers: 'ofParts', sha256: 'y-3' } };
    expect(compareObjects({ store, info: other }, right).result).toBe('uncertain');
  });
});

function compareFile(file: Uint8Array, example: StoredExample) {
  const { memory } = memoryOf(64 * MIB);
  return compareFileWithObject({ ...example, source: bytesSource(file), memory, signal: never });
}

describe('compareFileWithObject', () => {
  it.each(SUM_KINDS)('reads the file once and compares by %s', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 3_000 });
    const readBytes = bytes.length;
    expect(await compareFile(bytes, example)).toEqual({ result: 'same', by: kind, readBytes });
    expect(await compareFile(flipped(bytes, 10_499), example)).toEqual({
      result: 'differs',
      by: kind,
      readBytes,
    });
  });

  it('reads nothing when the sizes differ or the object has no sum', async () => {
    const example = await storedWith('none', bytes);
    expect(await compareFile(bytes, example)).toEqual({ result: 'uncertain', by: 'sizes', readBytes: 0 });
    expect(await compareFile(bytes.subarray(1), example)).toMatchObject({ result: 'differs', readBytes: 0 });
  });

  it.each(SUM_KINDS)('compares files of several pieces by %s', async (kind) => {
    const large = new Uint8Array(randomBytes(13 * MIB + 17));
    const example = await storedWith(kind, large, { partBytes: 5 * MIB });
    expect(await compareFile(large, example)).toMatchObject({ result: 'same', by: kind });
    for (const at of [4 * MIB, 8 * MIB - 1, large.length - 1])
      expect(await compareFile(flipped(large, at), example)).toMatchObject({ result: 'differs' });
  });

  it('is uncertain about parts that were cut at unknown offsets', async () => {
    const { store } = await storedWith('none', bytes);
    const cut = createMemoryStore({ etags: 'md5', keepsChecksums: false });
    await putInParts(cut, [bytes.subarray(0, 4_000), bytes.subarray(4_000, 7_500), bytes.subarray(7_500)]);
    const compared = await compareFile(bytes, {
      store: { ...cut, close: store.close },
      info: await headOf(cut),
    });
    expect(compared).toEqual({ result: 'uncertain', by: 'sizes', readBytes: bytes.length });
  });

  it('reports that the file changed during the read, and releases its memory', async () => {
    const example = await storedWith('md5', bytes);
    const { budget, memory } = memoryOf();
    const failing = async () => {
      throw new Error('changed');
    };
    for (const change of [{ checkUnchanged: failing }, { read: failing }]) {
      const source = { ...bytesSource(bytes), ...change };
      await expect(compareFileWithObject({ ...example, source, memory, signal: never })).rejects.toThrow(
        'changed',
      );
      expect(budget.used).toBe(0);
    }
  });
});

describe('compareByReading', () => {
  const compare = (left: Uint8Array, right: Uint8Array) =>
    compareByReading(bytesSource(left), bytesSource(right), {
      memory: memoryOf(64 * MIB).memory,
      signal: never,
    });

  it('returns the offset of the first differing byte', async () => {
    const large = new Uint8Array(randomBytes(13 * MIB));
    expect(await compare(large, large.slice())).toEqual({
      result: 'same',
      by: 'content',
      readBytes: 26 * MIB,
    });
    const places = fc.array(fc.nat(large.length - 1), { minLength: 1, maxLength: 3 });
    const cases = fc.asyncProperty(places, async (changed) => {
      const other = large.slice();
      for (const at of changed) other[at] = large[at]! ^ 0xff;
      expect(await compare(large, other)).toMatchObject({
        result: 'differs',
        by: 'content',
        differsAt: Math.min(...changed),
      });
    });
    await fc.assert(cases, { numRuns: 10 });
  });

  it('reads nothing for different sizes, and treats empty objects as equal', async () => {
    expect(await compare(bytes, bytes.subarray(1))).toEqual({ result: 'differs', by: 'sizes', readBytes: 0 });
    const empty = new Uint8Array(0);
    expect(await compare(empty, empty)).toEqual({ result: 'same', by: 'content', readBytes: 0 });
  });

  it('reports that one side cannot be read, and releases its memory', async () => {
    const { budget, memory } = memoryOf();
    const failing = {
      ...bytesSource(bytes),
      read: async () => {
        throw new Error('unreadable');
      },
    };
    const pairs = [
      [failing, bytesSource(bytes)],
      [bytesSource(bytes), failing],
    ] as const;
    for (const [left, right] of pairs) {
      await expect(compareByReading(left, right, { memory, signal: never })).rejects.toThrow('unreadable');
      expect(budget.used).toBe(0);
    }
  });
});
