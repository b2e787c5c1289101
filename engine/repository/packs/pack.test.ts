import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import type { BlobHash, PackHash } from '../../model/entry.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { packKey } from '../keys.ts';
import { PackBuilder } from './pack.ts';
import { readPackIndex } from './read-pack-index.ts';

const nameOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex') as BlobHash;

function build(blobs: readonly Uint8Array[]) {
  const builder = new PackBuilder();
  const offsets = blobs.map((bytes) => builder.add(nameOf(bytes), bytes));
  const payloadBytes = builder.sizeBytes;
  return { offsets, payloadBytes, ...builder.finish() };
}

async function stored(bytes: Uint8Array, hash: PackHash): Promise<ObjectStore> {
  const store = createMemoryStore();
  await store.put(packKey(hash), bytes);
  return store;
}

/** A store that counts its reads of data. */
function counting(store: ObjectStore) {
  const counts = { read: 0, head: 0 };
  const counted: ObjectStore = {
    ...store,
    read: (...call) => {
      counts.read += 1;
      return store.read(...call);
    },
    head: (...call) => {
      counts.head += 1;
      return store.head(...call);
    },
  };
  return { counts, store: counted };
}

const blobsArbitrary = fc.uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 300 }), {
  minLength: 1,
  maxLength: 60,
  selector: nameOf,
});

describe('a pack', () => {
  it('returns every blob at its reported offset', () => {
    fc.assert(
      fc.property(blobsArbitrary, (blobs) => {
        const pack = build(blobs);
        expect(pack.hash).toBe(nameOf(pack.bytes));
        for (const [index, bytes] of blobs.entries()) {
          const offset = pack.offsets[index]!;
          expect(Buffer.from(pack.bytes.subarray(offset, offset + bytes.length)).equals(bytes)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('lists its content in its own index', async () => {
    await fc.assert(
      fc.asyncProperty(blobsArbitrary, async (blobs) => {
        const pack = build(blobs);
        const index = await readPackIndex(await stored(pack.bytes, pack.hash), pack.hash);
        const expected = blobs.map((bytes, at) => ({
          hash: nameOf(bytes),
          offset: pack.offsets[at],
          sizeBytes: bytes.length,
        }));
        expect(index).toEqual(expected);
        expect(pack.blobs).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('has the stored size of a compressed blob in its index', async () => {
    const builder = new PackBuilder();
    const [content, frame] = [Buffer.alloc(1_000, 'a'), Buffer.from('a frame')];
    builder.add(nameOf(content), frame, content.length);
    const offset = builder.add(nameOf(Buffer.from('next')), Buffer.from('next'));
    const pack = builder.finish();
    expect(offset).toBe(frame.length);
    expect(pack.blobs[0]).toEqual({
      ...{ hash: nameOf(content), offset: 0 },
      ...{ sizeBytes: content.length, storedBytes: frame.length },
    });
    const index = await readPackIndex(await stored(pack.bytes, pack.hash), pack.hash);
    expect(index.map(({ offset, sizeBytes }) => [offset, sizeBytes])).toEqual([
      [0, 7],
      [7, 4],
    ]);
  });

  it('stores the same blob once', () => {
    const builder = new PackBuilder();
    const bytes = Buffer.from('same');
    expect(builder.add(nameOf(bytes), bytes)).toBe(0);
    expect(builder.add(nameOf(bytes), bytes)).toBe(0);
    expect([builder.count, builder.sizeBytes]).toEqual([1, 4]);
  });

  it('does not change when the caller reuses its buffer', () => {
    const builder = new PackBuilder();
    const bytes = Buffer.from('first');
    builder.add(nameOf(bytes), bytes);
    bytes.fill(0);
    expect(Buffer.from(builder.finish().bytes).subarray(0, 5).toString()).toBe('first');
  });

  it('is refused when it is empty or already finished', () => {
    expect(() => new PackBuilder().finish()).toThrow();
    expect(() => new PackBuilder().add(nameOf(Buffer.alloc(0)), Buffer.alloc(0))).toThrow();
    const builder = new PackBuilder();
    builder.add(nameOf(Buffer.from('a')), Buffer.from('a'));
    builder.finish();
    expect(() => builder.add(nameOf(Buffer.from('b')), Buffer.from('b'))).toThrow();
  });
});

describe('reading a pack index', () => {
  const manyBlobs = (count: number) =>
    Array.from({ length: count }, (_, index) => Buffer.from(`blob ${index}`));

  it('takes one request for a small index when the pack size is known', async () => {
    const pack = build(manyBlobs(3_000));
    const { counts, store } = counting(await stored(pack.bytes, pack.hash));
    await readPackIndex(store, pack.hash, { sizeBytes: pack.bytes.length });
    expect(counts).toEqual({ read: 1, head: 0 });
  });

  it('takes a second one for a long index, and a HEAD when the size is unknown', async () => {
    const pack = build(manyBlobs(5_000));
    const { counts, store } = counting(await stored(pack.bytes, pack.hash));
    expect(await readPackIndex(store, pack.hash)).toHaveLength(5_000);
    expect(counts).toEqual({ read: 2, head: 1 });
  });

  it('reports a missing pack', async () => {
    const { hash } = build(manyBlobs(1));
    await expect(readPackIndex(createMemoryStore(), hash)).rejects.toMatchObject({ code: 'notFound' });
    const gone = readPackIndex(createMemoryStore(), hash, { sizeBytes: 100 });
    await expect(gone).rejects.toMatchObject({ code: 'notFound' });
  });

  it('reports every truncation as damage that names the pack', async () => {
    const pack = build(manyBlobs(20));
    for (let length = 0; length < pack.bytes.length; length += 1) {
      const store = await stored(pack.bytes.subarray(0, length), pack.hash);
      await expect(readPackIndex(store, pack.hash)).rejects.toMatchObject({
        code: 'damaged',
        data: { key: packKey(pack.hash) },
      });
    }
  });

  it('reports every flipped bit of the index as damage', async () => {
    const pack = build(manyBlobs(4));
    for (let bit = pack.payloadBytes * 8; bit < pack.bytes.length * 8; bit += 1) {
      const bytes = Buffer.from(pack.bytes);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      const failure = await readPackIndex(await stored(bytes, pack.hash), pack.hash).catch((error) => error);
      expect(failure).toBeInstanceOf(DrayError);
      expect(failure.code).toBe('damaged');
    }
  });

  it('reports a size that is not the pack size', async () => {
    const pack = build(manyBlobs(4));
    const store = await stored(pack.bytes, pack.hash);
    for (const sizeBytes of [
      pack.bytes.length - 1,
      pack.bytes.length + 1,
      2 * pack.bytes.length,
      5,
      2 ** 40,
    ]) {
      await expect(readPackIndex(store, pack.hash, { sizeBytes })).rejects.toMatchObject({ code: 'damaged' });
    }
  });
});
