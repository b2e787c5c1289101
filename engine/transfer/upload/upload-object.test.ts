import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { crc64Nvme, loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore, PutOutcome } from '../../remotes/object-store.ts';
import { KEY, storedBytes } from './upload.fixture.ts';
import { putObject, uploadStream } from './upload-object.ts';

beforeAll(loadCrc64);

/** A store whose puts return less, like those of some servers; counts its HEADs. */
function answering(
  answer: (outcome: PutOutcome) => PutOutcome,
  inner: ObjectStore = createMemoryStore({ etags: 'md5' }),
) {
  const heads: string[] = [];
  const store: ObjectStore = {
    ...inner,
    put: async (...call) => answer(await inner.put(...call)),
    head: (key, options) => {
      heads.push(key);
      return inner.head(key, options);
    },
  };
  return { heads, inner, store };
}

describe('putObject', () => {
  const bytes = randomBytes(1_000);

  it.each([0, 1, 1_000])('stores %i bytes in one request that the answer confirms', async (sizeBytes) => {
    const { heads, inner, store } = answering((outcome) => outcome);
    const some = bytes.subarray(0, sizeBytes);
    const description = { contentType: 'text/csv', metadata: { mtime: '1.5' }, storageClass: 'STANDARD_IA' };
    const put = await putObject({ store, key: KEY, bytes: some, description });
    expect(put).toMatchObject({ confirmedBy: 'checksum', crc64nvme: crc64Nvme(some) });
    expect(heads).toEqual([]);
    expect(await inner.head(KEY)).toMatchObject({ ...description, etag: put.etag });
  });

  it('accepts an etag that is the MD5', async () => {
    const { heads, store } = answering((outcome) =>
      outcome.written ? { written: true, etag: outcome.etag } : outcome,
    );
    expect(await putObject({ store, key: KEY, bytes })).toMatchObject({ confirmedBy: 'md5' });
    expect(heads).toEqual([]);
  });

  it('sends one HEAD to a store that keeps the checksum but does not return it', async () => {
    const { heads, store } = answering(() => ({ written: true, etag: '' }));
    expect(await putObject({ store, key: KEY, bytes })).toMatchObject({ confirmedBy: 'checksum' });
    expect(await putObject({ store, key: 'other', bytes })).toMatchObject({ confirmedBy: 'checksum' });
    expect(heads).toEqual([KEY]);
  });

  it('has only the size when a store reports nothing else, and asks for it each time', async () => {
    const silent = createMemoryStore({ etags: 'none', keepsChecksums: false });
    const { heads, store } = answering(() => ({ written: true, etag: '' }), silent);
    expect(await putObject({ store, key: KEY, bytes })).toMatchObject({ confirmedBy: 'size' });
    expect(await putObject({ store, key: KEY, bytes })).toMatchObject({ confirmedBy: 'size' });
    expect(heads).toEqual([KEY, KEY]);
  });

  it('never accepts an object with another checksum or size on the store', async () => {
    const checksums = { covers: 'whole', crc64nvme: 1n } as const;
    const wrong = answering(() => ({ written: true, etag: '', checksums }));
    await expect(putObject({ store: wrong.store, key: KEY, bytes })).rejects.toMatchObject({
      code: 'damaged',
    });
    const { inner, store } = answering(() => ({ written: true, etag: '' }));
    const shorter = { ...store, head: async () => ({ ...(await inner.head(KEY))!, sizeBytes: 999 }) };
    await expect(putObject({ store: shorter, key: KEY, bytes })).rejects.toMatchObject({ code: 'damaged' });
  });

  it('reports a condition that did not hold', async () => {
    const store = createMemoryStore();
    await store.put(KEY, bytes);
    const put = await putObject({ store, key: KEY, bytes, condition: { absent: true } });
    expect(put).toMatchObject({ outcome: { written: false }, etag: '' });
  });
});

describe('uploadStream', () => {
  async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.byteLength; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }

  it.each([0, 1, 25_500])('stores %i bytes, and checks the result', async (sizeBytes) => {
    const store = createMemoryStore({ etags: 'md5' });
    const bytes = randomBytes(sizeBytes);
    const description = { metadata: { mtime: '1' } };
    const uploaded = await uploadStream({ store, key: KEY, description, body: inPieces(bytes, 777) });
    expect(uploaded).toMatchObject({ sizeBytes, crc64nvme: crc64Nvme(bytes), confirmedBy: 'checksum' });
    expect(await storedBytes(store)).toEqual(new Uint8Array(bytes));
    expect(await store.head(KEY)).toMatchObject({ ...description, etag: uploaded.etag });
  });

  it('never accepts an object that the store has with other content', async () => {
    const inner = createMemoryStore();
    const store: ObjectStore = {
      ...inner,
      putStream: async (key, body, options) => {
        const pieces: Uint8Array[] = [];
        for await (const piece of body) pieces.push(piece);
        const bytes = new Uint8Array(Buffer.concat(pieces));
        bytes[7] = (bytes[7] ?? 0) ^ 1;
        return inner.put(key, bytes, options);
      },
    };
    const body = inPieces(randomBytes(5_000), 1_000);
    await expect(uploadStream({ store, key: KEY, body })).rejects.toMatchObject({ code: 'damaged' });
  });
});
