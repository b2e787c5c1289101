import { hash as hashOf, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { describeConditions, describeObjects } from '../../remotes/contract/objects.fixture.ts';
import { describeLists } from '../../remotes/contract/suite.fixture.ts';
import { describeAborts, describeStreams } from '../../remotes/contract/transfers.fixture.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { openPieces } from '../../sealing/sealed-content.ts';
import { FRAME_BYTES, HEAD_BYTES, paddedBytes, paddedOf, sealedBytesOf } from '../../sealing/sealed-form.ts';
import { deriveSealKeys } from './seal-keys.ts';
import { createSealedNames } from './sealed-names.ts';
import { withSealing } from './with-sealing.ts';

const REPOSITORY = '00000000-0000-4000-8000-000000000000';
const keys = deriveSealKeys(randomBytes(32), REPOSITORY);

/** Inside: the store as whoever keeps it sees it. */
function sealedStore(): { readonly store: ObjectStore; readonly inside: ObjectStore } {
  const inside = createMemoryStore();
  return { store: withSealing(inside, keys), inside };
}

function objectOf(content: Uint8Array): RemoteKey {
  const name = hashOf('sha256', content, 'hex');
  return `objects/${name.slice(0, 2)}/${name.slice(2)}`;
}

async function bytesAt(store: ObjectStore, key: RemoteKey): Promise<Buffer> {
  const read = await store.read(key, { maxBytes: 64 * 1024 * 1024 });
  return Buffer.from(read!.bytes);
}

/** Read into shared memory, as by a clone: it is opened in place, and by threads once there is much of it. */
async function placedOf(store: ObjectStore, key: RemoteKey, sizeBytes: number): Promise<Buffer> {
  const into = new Uint8Array(new SharedArrayBuffer(store.sealing!.readBytesMax(sizeBytes)));
  const { bytes } = (await store.read(key, { maxBytes: sizeBytes, into }))!;
  expect(bytes.buffer).toBe(into.buffer);
  return Buffer.from(bytes);
}

/** As by a thread that writes a chunk. */
async function piecesOf(store: ObjectStore, key: RemoteKey, given: Buffer[] = []): Promise<Buffer> {
  const read = await store.sealing!.readUnopened(key, { maxBytes: 64 * 1024 * 1024 });
  const { object, sizeBytes, stored } = read!;
  let at = 0;
  openPieces(object, stored, (piece, offset) => {
    expect(offset).toBe(at);
    at += piece.length;
    given.push(Buffer.from(piece));
  });
  expect(at).toBe(sizeBytes);
  return Buffer.concat(given);
}

function shared(content: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(content.length));
  copy.set(content);
  return copy;
}

async function streamOf(store: ObjectStore, key: RemoteKey): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await store.get(key))!.body) pieces.push(piece);
  return Buffer.concat(pieces);
}

const SIZES = [0, 1, 511, 512, 513, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3_000_001];

describe('A sealed store keeps what callers need of the contract of an object store', () => {
  const { store } = sealedStore();
  describeObjects(() => store);
  describeConditions(() => store);
  describeStreams(() => store);
  describeLists(() => store);
  describeAborts(() => store);
});

describe('A sealed store', () => {
  it.each(SIZES)('gives back %i bytes, whole, as a stream, and in ranges', async (sizeBytes) => {
    const { inside, store } = sealedStore();
    const content = randomBytes(sizeBytes);
    const key = objectOf(content);
    await store.put(key, content);
    expect((await bytesAt(store, key)).equals(content)).toBe(true);
    expect((await streamOf(store, key)).equals(content)).toBe(true);
    expect((await piecesOf(store, key)).equals(content)).toBe(true);
    expect((await store.head(key))!.sizeBytes).toBe(sizeBytes);
    for (const [start, end] of [
      [0, 1],
      [FRAME_BYTES - 3, FRAME_BYTES + 3],
      [FRAME_BYTES, 2 * FRAME_BYTES],
      [sizeBytes - 1, sizeBytes],
    ] as const) {
      if (start < 0 || end > sizeBytes) continue;
      const read = await store.read(key, { range: { start, end }, maxBytes: FRAME_BYTES });
      expect(Buffer.from(read!.bytes).equals(content.subarray(start, end)), `${start} to ${end}`).toBe(true);
    }
    const stored = (await inside.list({ prefix: 'objects/' })).objects;
    expect(stored).toMatchObject([{ sizeBytes: sealedBytesOf(paddedBytes(sizeBytes)) }]);
    expect((await store.list({ prefix: 'objects/' })).objects).toMatchObject([
      { key, sizeBytes: paddedBytes(sizeBytes) },
    ]);
  });

  it('seals and opens in threads what lies in shared memory', async () => {
    const { inside, store } = sealedStore();
    const contents = Array.from({ length: 6 }, (_, at) => randomBytes(4_000_000 + 17 * at));
    const puts = contents.map((content) => store.put(objectOf(content), shared(content)));
    expect(await Promise.all(puts)).toMatchObject(contents.map(() => ({ written: true })));
    const nonces = new Set<string>();
    for (const { key } of (await inside.list({ prefix: '' })).objects)
      nonces.add((await bytesAt(inside, key)).toString('hex', 4, 16));
    expect(nonces.size).toBe(contents.length);
    const reads = contents.map((content) => placedOf(store, objectOf(content), content.length));
    for (const [at, bytes] of (await Promise.all(reads)).entries())
      expect(bytes.equals(contents[at]!)).toBe(true);
    const [start, end] = [FRAME_BYTES + 5, 5 * FRAME_BYTES + 3];
    const into = new Uint8Array(new SharedArrayBuffer(store.sealing!.readBytesMax(end - start)));
    const call = { range: { start, end }, maxBytes: end - start, into };
    const { bytes } = (await store.read(objectOf(contents[0]!), call))!;
    expect(bytes.buffer).toBe(into.buffer);
    expect(Buffer.from(bytes).equals(contents[0]!.subarray(start, end))).toBe(true);
    await store.close();
  });

  it('refuses a range of which frames are missing', async () => {
    const inside = createMemoryStore();
    let missingBytes = 0;
    const short: ObjectStore = {
      ...inside,
      async read(key, call) {
        const read = await inside.read(key, call);
        return read && { ...read, bytes: read.bytes.subarray(0, read.bytes.length - missingBytes) };
      },
    };
    const store = withSealing(short, keys);
    const content = randomBytes(4 * FRAME_BYTES);
    const key = objectOf(content);
    await store.put(key, content);
    const range = { start: FRAME_BYTES, end: 3 * FRAME_BYTES };
    const call = { range, maxBytes: 2 * FRAME_BYTES };
    expect(Buffer.from((await store.read(key, call))!.bytes)).toEqual(
      content.subarray(range.start, range.end),
    );
    for (missingBytes of [1, FRAME_BYTES + 28, 2 * FRAME_BYTES + 56])
      await expect(store.read(key, call)).rejects.toMatchObject({ code: 'damaged' });
  });

  it('has neither a name nor a content of its callers in any stored byte', async () => {
    const { inside, store } = sealedStore();
    const content = Buffer.from('MARKER'.repeat(1000));
    await store.put(objectOf(content), content);
    await store.put('refs/heads/main', content);
    const { objects } = await inside.list({ prefix: '' });
    expect(objects).toHaveLength(2);
    for (const { key } of objects) {
      expect(key).not.toContain(objectOf(content).slice(-20));
      expect((await bytesAt(inside, key)).includes('MARKER')).toBe(false);
    }
  });

  it('seals equal content differently each time, under one name', async () => {
    const { inside, store } = sealedStore();
    const content = randomBytes(1000);
    await store.put(objectOf(content), content);
    const { key } = (await inside.list({ prefix: '' })).objects[0]!;
    const first = await bytesAt(inside, key);
    await store.put(objectOf(content), content);
    expect((await bytesAt(inside, key)).equals(first)).toBe(false);
    expect((await inside.list({ prefix: '' })).objects).toHaveLength(1);
  });

  it('finds each of 1,000 flipped bits, however the object is read', async () => {
    const { inside, store } = sealedStore();
    const content = randomBytes(FRAME_BYTES + 5000);
    const key = objectOf(content);
    await store.put(key, content);
    const storedKey = store.sealing!.storedKey(key);
    const good = await bytesAt(inside, storedKey);
    const ways = [
      () => bytesAt(store, key),
      () => streamOf(store, key),
      () => placedOf(store, key, content.length),
      () => piecesOf(store, key),
    ];
    let found = 0;
    for (let round = 0; round < 1000; round += 1) {
      const at = Math.floor((round * good.length) / 1000);
      const bad = Buffer.from(good);
      bad[at]! ^= 1 << (round % 8);
      await inside.put(storedKey, bad);
      await expect(ways[round % 4]!()).rejects.toMatchObject({ code: 'damaged' });
      found += 1;
    }
    expect(found).toBe(1000);
  });

  it('refuses an object that was cut, or continued', async () => {
    const { inside, store } = sealedStore();
    const content = randomBytes(3 * FRAME_BYTES);
    const key = objectOf(content);
    await store.put(key, content);
    const storedKey = store.sealing!.storedKey(key);
    const good = await bytesAt(inside, storedKey);
    const cuts = [0, 10, HEAD_BYTES, HEAD_BYTES + 28 + FRAME_BYTES, good.length - 1];
    for (const bad of [...cuts.map((end) => good.subarray(0, end)), Buffer.concat([good, good])]) {
      await inside.put(storedKey, bad);
      for (const read of [bytesAt(store, key), streamOf(store, key), piecesOf(store, key), store.head(key)])
        await expect(read).rejects.toMatchObject({ code: 'damaged' });
    }
  });

  it('refuses the content of another object, of another frame, and of another write', async () => {
    const { inside, store } = sealedStore();
    const [one, other] = [randomBytes(2 * FRAME_BYTES), randomBytes(2 * FRAME_BYTES)];
    const stored = [];
    for (const content of [one, other]) {
      await store.put(objectOf(content), content);
      stored.push(await bytesAt(inside, store.sealing!.storedKey(objectOf(content))));
    }
    await store.put(objectOf(one), one);
    const storedKey = store.sealing!.storedKey(objectOf(one));
    const again = await bytesAt(inside, storedKey);
    const frame = FRAME_BYTES + 28;
    const swapped = [HEAD_BYTES, HEAD_BYTES + frame, again.length];
    const [head, first, second] = [0, ...swapped].map((at, index) => again.subarray(at, swapped[index])) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    const mixed = Buffer.concat([head, first, stored[0]!.subarray(HEAD_BYTES + frame)]);
    for (const bad of [stored[1]!, Buffer.concat([head, second, first]), mixed]) {
      await inside.put(storedKey, bad);
      for (const read of [bytesAt(store, objectOf(one)), piecesOf(store, objectOf(one))])
        await expect(read).rejects.toMatchObject({ code: 'damaged' });
    }
  });

  it('gives pieces in order, and none of a frame that is not authentic', async () => {
    const { inside, store } = sealedStore();
    const content = randomBytes(2 * FRAME_BYTES + 1234);
    const key = objectOf(content);
    await store.put(key, content);
    expect((await piecesOf(store, key)).equals(content)).toBe(true);
    const storedKey = store.sealing!.storedKey(key);
    const bad = await bytesAt(inside, storedKey);
    bad[HEAD_BYTES + FRAME_BYTES + 28 + FRAME_BYTES]! ^= 1;
    await inside.put(storedKey, bad);
    const given: Buffer[] = [];
    await expect(piecesOf(store, key, given)).rejects.toMatchObject({ data: { reason: 'unauthentic' } });
    expect(Buffer.concat(given).equals(content.subarray(0, FRAME_BYTES))).toBe(true);
  });

  it('refuses plain content where everything is sealed', async () => {
    const { inside, store } = sealedStore();
    await inside.put('refs/heads/main', Buffer.from('{"format":1}'));
    await expect(bytesAt(store, 'refs/heads/main')).rejects.toMatchObject({ code: 'damaged' });
  });
});

describe('The sizes of sealed content', () => {
  it('can be told from stored sizes, and waste at most an eighth of content above 512 bytes', () => {
    for (let sizeBytes = 513; sizeBytes < 2 ** 40; sizeBytes = Math.ceil(sizeBytes * 1.37)) {
      const padded = paddedBytes(sizeBytes);
      expect(padded).toBeGreaterThanOrEqual(sizeBytes);
      expect(padded).toBeLessThanOrEqual(sizeBytes * 1.125);
      expect(paddedOf(sealedBytesOf(padded))).toBe(padded);
      expect(paddedOf(sealedBytesOf(padded) - 1)).toBeUndefined();
    }
  });
});

describe('Sealed names', () => {
  it('are a permutation of the names of objects, and leave other keys as they are', () => {
    const names = createSealedNames(keys.names);
    const seen = new Set<string>();
    for (let round = 0; round < 1000; round += 1) {
      const key = objectOf(Buffer.from(`${round}`)) + (round % 2 === 0 ? '' : `.${round}`);
      const stored = names.storedKey(key);
      expect(stored).toMatch(/^objects\/[0-9a-f]{2}\/[0-9a-f]{62}(\.\d+)?$/);
      expect(stored).not.toBe(key);
      expect(names.plainKey(stored)).toBe(key);
      seen.add(stored);
    }
    expect(seen.size).toBe(1000);
    for (const key of ['refs/heads/main', 'dray.json', 'objects/ab/short', 'collection.json'])
      expect(names.storedKey(key)).toBe(key);
  });
});
