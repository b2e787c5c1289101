import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { crc64Nvme, loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { createFaults, withFaults } from '../../remotes/wrappers/with-faults.fixture.ts';
import { uploadInParts } from '../upload/multipart-upload.ts';
import {
  bytesSource,
  createJournal,
  KEY,
  PART_BYTES,
  storedBytes,
  uploadOf,
  withMultipart,
} from '../upload/upload.fixture.ts';
import { type PreviousObject, previousFromParts } from './store-delta.ts';

beforeAll(loadCrc64);

/** Uploads the bytes in parts and returns what the next upload knows about them. */
async function uploaded(store: ObjectStore, bytes: Uint8Array): Promise<PreviousObject> {
  const { blocks, etag } = await uploadInParts(uploadOf(store, bytesSource(bytes)));
  return { key: KEY, etag, sizeBytes: bytes.byteLength, ...blocks };
}

function edited(bytes: Uint8Array, parts: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  for (const part of parts) copy[part * PART_BYTES] = (copy[part * PART_BYTES] ?? 0) ^ 1;
  return copy;
}

describe('an upload over an object whose blocks are known', () => {
  it('sends only the parts that changed, and the object has the new content', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 9_999 }),
      fc.integer({ min: 1, max: 9_999 }),
      fc.uniqueArray(fc.nat(9)),
      async (oldBytes, newBytes, changes) => {
        const store = createMemoryStore({ etags: 'md5' });
        const old = randomBytes(oldBytes);
        const previous = await uploaded(store, old);
        const grown = Buffer.concat([old, randomBytes(10_000)]).subarray(0, newBytes);
        const now = edited(
          grown,
          changes.filter((part) => part * PART_BYTES < newBytes),
        );
        const delta = await uploadInParts(uploadOf(store, bytesSource(now, 'second'), { previous }));
        const isSame = (start: number) => {
          const before = old.subarray(start, start + PART_BYTES);
          return before.length > 0 && Buffer.compare(before, now.subarray(start, start + PART_BYTES)) === 0;
        };
        const starts = Array.from({ length: Math.ceil(newBytes / PART_BYTES) }, (_, at) => at * PART_BYTES);
        expect(delta.copiedParts).toBe(starts.filter(isSame).length);
        expect(delta.sentParts + delta.copiedParts).toBe(starts.length);
        expect(await storedBytes(store)).toEqual(new Uint8Array(now));
        expect(delta).toMatchObject({ confirmedBy: 'checksum', crc64nvme: crc64Nvme(now) });
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it('cuts its parts like the previous upload, so the next delta can use them', async () => {
    const store = createMemoryStore({ etags: 'md5' });
    let bytes = new Uint8Array(randomBytes(20_000));
    let previous = await uploaded(store, bytes);
    for (const part of [3, 11, 19]) {
      bytes = new Uint8Array(edited(bytes, [part]));
      const wish = { previous, partSizeBytes: 7 * PART_BYTES };
      const delta = await uploadInParts(uploadOf(store, bytesSource(bytes, `${part}`), wish));
      expect(delta).toMatchObject({ sentParts: 1, copiedParts: 19 });
      previous = { key: KEY, etag: delta.etag, sizeBytes: bytes.byteLength, ...delta.blocks };
    }
    expect(await storedBytes(store)).toEqual(bytes);
  });

  it.each([
    ['the object was replaced meanwhile', 'conflict'],
    ['the object is gone', 'notFound'],
    ['the store does not copy parts', 'unsupported'],
    ['the store refuses to copy parts', 'accessDenied'],
  ] as const)('sends everything when %s', async (_, code) => {
    const inner = createMemoryStore({ etags: 'md5' });
    const bytes = randomBytes(10_000);
    const previous = await uploaded(inner, bytes);
    const faults = createFaults();
    faults.add('uploadPartCopy').errorInstead(new DrayError(code, 'No.')).repeat(4);
    const store = withFaults(inner, faults);
    const now = edited(bytes, [4]);
    const delta = await uploadInParts(uploadOf(store, bytesSource(now), { previous }));
    expect(delta).toMatchObject({ sentParts: 10, copiedParts: 0, confirmedBy: 'checksum' });
    expect(await storedBytes(store)).toEqual(new Uint8Array(now));
  });

  it('resumes after a crash with the parts that were copied and sent', async () => {
    const inner = createMemoryStore({ etags: 'md5' });
    const bytes = randomBytes(10_000);
    const previous = await uploaded(inner, bytes);
    const faults = createFaults();
    faults.add('complete').errorInstead(new DrayError('unreachable', 'Gone.', { retry: 'retry' }));
    const store = withFaults(inner, faults);
    const now = edited(bytes, [4]);
    const journal = createJournal();
    const once = () => uploadInParts(uploadOf(store, bytesSource(now), { previous, journal }));
    await expect(once()).rejects.toMatchObject({ code: 'unreachable' });
    expect(await once()).toMatchObject({ keptParts: 10, sentParts: 0, copiedParts: 0 });
    expect(await storedBytes(store)).toEqual(new Uint8Array(now));
  });

  it.each([
    ['by the checksum of the whole object', { etags: 'counted', keepsChecksums: true }],
    ['by the MD5s of the parts', { etags: 'md5', keepsChecksums: false }],
  ] as const)('detects %s that the store copied other bytes, and sends everything', async (_, options) => {
    const inner = createMemoryStore(options);
    const bytes = randomBytes(10_000);
    const previous = await uploaded(inner, bytes);
    const store = withMultipart(inner, (multipart) => ({
      uploadPartCopy: (upload, number, source, call) =>
        multipart.uploadPartCopy(upload, number, { ...source, range: { start: 0, end: PART_BYTES } }, call),
    }));
    const now = edited(bytes, [4]);
    let atStore = 0;
    const onProgress = (sent: number) => {
      atStore += sent;
    };
    const delta = await uploadInParts(uploadOf(store, bytesSource(now), { previous, onProgress }));
    expect(delta).toMatchObject({ sentParts: 10, copiedParts: 0 });
    expect(atStore).toBe(10_000);
    expect(await storedBytes(store)).toEqual(new Uint8Array(now));
    expect((await inner.multipart?.listUploads({ prefix: '' }))?.uploads).toEqual([]);
  });
});

describe('previousFromParts', () => {
  it("learns the blocks from the store's list of parts", async () => {
    const store = createMemoryStore({ etags: 'md5' });
    const bytes = randomBytes(10_500);
    const known = await uploaded(store, bytes);
    const previous = await previousFromParts(store, KEY, (await store.head(KEY))!);
    expect(previous).toEqual({ ...known, sums: known.sums.map((crc64nvme) => ({ crc64nvme })) });
    const delta = await uploadInParts(
      uploadOf(store, bytesSource(edited(bytes, [10])), { previous: previous! }),
    );
    expect(delta).toMatchObject({ sentParts: 1, copiedParts: 10 });
  });

  it('trusts a CRC-32 only if the MD5 of the copied part matches', async () => {
    const bytes = randomBytes(5_000);
    for (const [etags, copiedParts] of [
      ['md5', 5],
      ['counted', 0],
    ] as const) {
      const store = createMemoryStore({ etags });
      await uploadInParts(uploadOf(store, bytesSource(bytes), { checksum: 'crc32' }));
      const previous = await previousFromParts(store, KEY, (await store.head(KEY))!);
      const delta = await uploadInParts(uploadOf(store, bytesSource(bytes), { previous: previous! }));
      expect(delta.copiedParts).toBe(copiedParts);
    }
  });

  it('knows no blocks of objects that were sent in one piece, in unequal parts, without sums, or with a new ETag', async () => {
    const store = createMemoryStore({ etags: 'md5' });
    await store.put('whole', randomBytes(100));
    expect(await previousFromParts(store, 'whole', (await store.head('whole'))!)).toBeUndefined();
    const info = { etag: 'e', sizeBytes: 30 };
    const withParts = (...sizes: readonly (number | undefined)[]): ObjectStore => ({
      ...store,
      parts: async () => ({
        etag: 'e',
        parts: sizes.map((sizeBytes, at) => ({ number: at + 1, sizeBytes: sizeBytes ?? 0, crc64nvme: 1n })),
      }),
    });
    expect(await previousFromParts(withParts(10, 10, 10), KEY, info)).toMatchObject({ blockBytes: 10 });
    expect(await previousFromParts(withParts(20, 10), KEY, info)).toMatchObject({ blockBytes: 20 });
    for (const sizes of [[10, 15, 5], [10, 10], [10, 20], [0, 30], []])
      expect(await previousFromParts(withParts(...sizes), KEY, info)).toBeUndefined();
    expect(await previousFromParts(withParts(10, 10, 10), KEY, { ...info, etag: 'other' })).toBeUndefined();
    const { parts: _, ...withoutParts } = store;
    expect(await previousFromParts(withoutParts, KEY, info)).toBeUndefined();
  });
});
