import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import type { HeadOptions, ObjectStore } from '../../remotes/object-store.ts';
import { createFaults, withFaults } from '../../remotes/wrappers/with-faults.fixture.ts';
import {
  flipped,
  headOf,
  KEY,
  never,
  putInParts,
  type StoredExample,
  SUM_KINDS,
  storedWith,
} from '../download/download.fixture.ts';
import { openContentCheck } from './content-check.ts';

beforeAll(loadCrc64);

async function resultOf(example: StoredExample, pieces: readonly Uint8Array[]) {
  const check = (await openContentCheck({ ...example, key: KEY, signal: never }))!;
  for (const piece of pieces) await check.update(piece);
  return check.result();
}

const cutBytes = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });

describe('a content check', () => {
  it.each(SUM_KINDS)('by %s accepts the content in pieces of any size', async (kind) => {
    const cases = fc.asyncProperty(cutBytes, fc.integer({ min: 1, max: 400 }), async (pieces, partBytes) => {
      const example = await storedWith(kind, new Uint8Array(Buffer.concat(pieces)), { partBytes });
      expect(await resultOf(example, pieces)).toBe('same');
    });
    await fc.assert(cases, { numRuns: 40 });
  });

  it.each(SUM_KINDS)('by %s rejects any other content of the same size', async (kind) => {
    const bytes = new Uint8Array(randomBytes(2_500));
    const example = await storedWith(kind, bytes);
    for (const at of [0, 999, 1_000, 2_499])
      expect(await resultOf(example, [flipped(bytes, at)])).toBe('differs');
  });

  it('does not exist when only the size is known', async () => {
    const example = await storedWith('none', new Uint8Array(10));
    expect(await openContentCheck({ ...example, key: KEY, signal: never })).toBeUndefined();
  });
});

describe('a content check of parts', () => {
  const bytes = new Uint8Array(randomBytes(2_500));

  it('is uncertain about other content when the parts have unequal sizes', async () => {
    const { store } = await storedWith('md5OfParts', bytes);
    // As many parts as even ones of the first one's size would be.
    await putInParts(store, [bytes.subarray(0, 1_000), bytes.subarray(1_000, 1_900), bytes.subarray(1_900)]);
    expect(await resultOf({ store, info: await headOf(store) }, [bytes])).toBe('uncertain');
  });

  it.each([
    ['refuses requests for parts', refusing],
    ['does not report their number', silent],
    ['answers for another object', other],
  ])('tries usual sizes when the store %s, and is uncertain when none fits', async (_, made) => {
    const even = await storedWith('md5OfParts', bytes, { partBytes: 1_250 });
    const store = made(even.store);
    expect(await resultOf({ store, info: even.info }, [bytes])).toBe('same');
    expect(await resultOf({ store, info: even.info }, [flipped(bytes, 5)])).toBe('uncertain');
  });

  it('reports that the store cannot be reached', async () => {
    const example = await storedWith('md5OfParts', bytes);
    const faults = createFaults();
    faults.add('head').errorInstead(new DrayError('unreachable', 'Gone.', { retry: 'retry' }));
    const store = withFaults(example.store, faults);
    await expect(resultOf({ ...example, store }, [bytes])).rejects.toMatchObject({ code: 'unreachable' });
    faults.verifyAllExercised();
  });
});

const refusing = (store: ObjectStore): ObjectStore => ({
  ...store,
  head: async (key, options?: HeadOptions) => {
    if (options?.partNumber !== undefined) throw new DrayError('unsupported', 'No such parameter.');
    return store.head(key, options);
  },
});

const silent = (store: ObjectStore): ObjectStore => ({
  ...store,
  head: (key, { partNumber: _, ...options }: HeadOptions = {}) => store.head(key, options),
});

const other = (store: ObjectStore): ObjectStore => ({
  ...store,
  head: async (key, options) => ({ ...(await store.head(key, options))!, etag: 'another' }),
});
