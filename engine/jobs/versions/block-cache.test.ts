import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ByteRange, ObjectStore } from '../../remotes/object-store.ts';
import { hashOfText } from '../../repository/entries.fixture.ts';
import { packKey } from '../../repository/keys.ts';
import { createSandbox, type Sandbox } from '../session/job.fixture.ts';
import { createBlockMemory, withBlockCache } from './block-cache.ts';
import { BLOCK_BYTES, openBlockFile } from './block-file.ts';

const KEY = packKey(hashOfText('pack') as Parameters<typeof packKey>[0]);
const CONTENT = Buffer.from(Array.from({ length: 5 * BLOCK_BYTES + 1_000 }, (_, at) => (at * at * 31) >> 5));

let sandbox: Sandbox;
let reads: ByteRange[];
let damaged = false;
let inner: ObjectStore;
beforeEach(async () => {
  sandbox = createSandbox();
  reads = [];
  damaged = false;
  const memory = createMemoryStore();
  await memory.put(KEY, CONTENT);
  inner = {
    ...memory,
    async read(key, options) {
      reads.push(options.range!);
      const read = await memory.read(key, options);
      return read && damaged ? { ...read, bytes: read.bytes.map((byte) => byte ^ 1) } : read;
    },
  };
});
afterEach(() => sandbox[Symbol.dispose]());

async function expectRead(store: ObjectStore, start: number, end: number, isAgain = false): Promise<void> {
  const read = await store.read(KEY, { range: { start, end }, maxBytes: end - start, isAgain });
  expect(CONTENT.subarray(start, end).equals(read!.bytes)).toBe(true);
  expect(read!.info.sizeBytes).toBe(CONTENT.length);
}

describe('the cache of blocks', () => {
  it('reads neighbours by one request, and each block once, also for many at a time', async () => {
    const store = withBlockCache(inner, { memory: createBlockMemory(32 * BLOCK_BYTES) });
    await Promise.all([expectRead(store, 10, 20), expectRead(store, 100, 5_000), expectRead(store, 0, 1)]);
    expect(reads).toEqual([{ start: 0, end: BLOCK_BYTES }]);
    await expectRead(store, BLOCK_BYTES - 10, 3 * BLOCK_BYTES + 10);
    expect(reads.slice(1)).toEqual([{ start: BLOCK_BYTES, end: 4 * BLOCK_BYTES }]);
    await expectRead(store, 2 * BLOCK_BYTES, CONTENT.length);
    await expectRead(store, 0, CONTENT.length);
    expect(reads.length).toBe(3);
    await expect(
      store.read(KEY, { range: { start: CONTENT.length, end: CONTENT.length + 5 }, maxBytes: 5 }),
    ).resolves.toMatchObject({ bytes: { length: 0 } });
    const absent = packKey(hashOfText('absent') as Parameters<typeof packKey>[0]);
    expect(await store.read(absent, { range: { start: 0, end: 5 }, maxBytes: 5 })).toBeUndefined();
  });

  it('reads an object as a whole once, unless it is larger than a block', async () => {
    const file = await openBlockFile(sandbox.path('cache'), 100 * BLOCK_BYTES);
    // Room for one in memory: the others go to the file.
    const store = withBlockCache(inner, { file, memory: createBlockMemory(BLOCK_BYTES) });
    const keys = ['a', 'b', 'c'].map((name) => packKey(hashOfText(name) as Parameters<typeof packKey>[0]));
    const contents = keys.map((_, at) => CONTENT.subarray(at, at + BLOCK_BYTES - 100 * at));
    for (const [at, key] of keys.entries()) await inner.put(key, contents[at]!);
    for (let turn = 0; turn < 3; turn += 1)
      for (const [at, key] of keys.entries()) {
        const [read] = await Promise.all([0, 1].map(() => store.read(key, { maxBytes: BLOCK_BYTES })));
        expect(contents[at]!.equals(read!.bytes)).toBe(true);
        await file.settled();
      }
    expect(reads).toHaveLength(keys.length);
    await store.read(keys[0]!, { maxBytes: BLOCK_BYTES, isAgain: true });
    expect(reads).toHaveLength(keys.length + 1);
    for (let turn = 0; turn < 2; turn += 1) await store.read(KEY, { maxBytes: CONTENT.length });
    expect(reads).toHaveLength(keys.length + 3);
    await store.close();
  });

  it('asks the store again after damage, and after a failure', async () => {
    const store = withBlockCache(inner, { memory: createBlockMemory(32 * BLOCK_BYTES) });
    damaged = true;
    await store.read(KEY, { range: { start: 0, end: 5 }, maxBytes: 5 });
    damaged = false;
    await expectRead(store, 0, 5, true);
    await expectRead(store, 0, 5);
    expect(reads.length).toBe(2);
    const read = inner.read;
    inner.read = () => Promise.reject(new Error('cut'));
    const range = { start: 4 * BLOCK_BYTES, end: 4 * BLOCK_BYTES + 5 };
    await expect(store.read(KEY, { range, maxBytes: 5 })).rejects.toThrow('cut');
    inner.read = read;
    await expectRead(store, range.start, range.end);
  });

  it('stops waiting when the caller is gone, and keeps what was read for others', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slowly: ObjectStore = {
      ...inner,
      read: async (key, options) => {
        await promise;
        return inner.read(key, options);
      },
    };
    const slow = withBlockCache(slowly, { memory: createBlockMemory(BLOCK_BYTES) });
    const leaving = new AbortController();
    const range = { start: 0, end: 5 };
    const gone = slow.read(KEY, { range, maxBytes: 5, signal: leaving.signal });
    const stays = expectRead(slow, 0, 5);
    leaving.abort();
    await expect(gone).rejects.toMatchObject({ code: 'aborted' });
    resolve();
    await stays;
    expect(reads.length).toBe(1);
  });

  it('shares its memory with those of other stores, and mixes up no blocks', async () => {
    const other = createMemoryStore();
    const content = CONTENT.map((byte) => byte ^ 1);
    await other.put(KEY, content);
    const memory = createBlockMemory(2 * BLOCK_BYTES);
    const files = await Promise.all(
      ['a', 'b'].map((name) => openBlockFile(sandbox.path(name), 100 * BLOCK_BYTES)),
    );
    const first = withBlockCache(inner, { file: files[0]!, memory });
    const second = withBlockCache(other, { file: files[1]!, memory });
    for (let turn = 0; turn < 3; turn += 1)
      for (let at = 0; at < 5; at += 1) {
        const range = { start: at * BLOCK_BYTES, end: at * BLOCK_BYTES + 10 };
        await expectRead(first, range.start, range.end);
        const read = await second.read(KEY, { range, maxBytes: 10 });
        expect(Buffer.from(read!.bytes)).toEqual(Buffer.from(content.subarray(range.start, range.end)));
        await Promise.all(files.map((file) => file.settled()));
      }
    expect(memory.calculatedSize).toBeLessThanOrEqual(2 * BLOCK_BYTES);
    // Each evicted block went to the file of its own store.
    expect(reads).toHaveLength(5);
    await Promise.all([first.close(), second.close()]);
  });

  it('reads any part of a block from its file, at any byte and past its end', async () => {
    const file = await openBlockFile(sandbox.path('cache'), 2 * BLOCK_BYTES);
    const info = { key: KEY, sizeBytes: 1_000, etag: 'a', modifiedMs: 0 };
    const block = { bytes: CONTENT.subarray(0, 1_000), info };
    file.write('block', block);
    await file.settled();
    for (const start of [0, 1, 15, 16, 17, 983, 984, 999, 1_000])
      for (const end of [start, start + 1, start + 16, start + 33, BLOCK_BYTES]) {
        const found = await file.read('block', { start, end });
        expect(found && Buffer.from(found.bytes), `${start} to ${end}`).toEqual(
          Buffer.from(block.bytes.subarray(start, end)),
        );
      }
    await file.close();
  });

  it('reads each block once, also if many leave the memory faster than its file is written', async () => {
    const blocks = 40;
    const content = Buffer.alloc(blocks * BLOCK_BYTES, CONTENT);
    const key = packKey(hashOfText('many blocks') as Parameters<typeof packKey>[0]);
    await inner.put(key, content);
    const file = await openBlockFile(sandbox.path('cache'), 100 * BLOCK_BYTES);
    const store = withBlockCache(inner, { file, memory: createBlockMemory(8 * BLOCK_BYTES) });
    const readAll = () =>
      Promise.all(
        Array.from({ length: blocks }, async (_, at) => {
          const range = { start: at * BLOCK_BYTES + at, end: at * BLOCK_BYTES + 5_000 };
          const read = await store.read(key, { range, maxBytes: 5_000 });
          expect(content.subarray(range.start, range.end).equals(read!.bytes)).toBe(true);
        }),
      );
    // At once, and so from memory; then from the file.
    for (let turn = 0; turn < 2; turn += 1) await readAll();
    await file.settled();
    await readAll();
    expect(reads).toHaveLength(blocks);
    await store.close();
  });

  it('keeps in its file what the memory has no room for, and leaves no file behind', async () => {
    const file = await openBlockFile(sandbox.path('cache'), 3 * BLOCK_BYTES);
    if (process.platform !== 'win32') expect(readdirSync(sandbox.path('cache'))).toEqual([]);
    const store = withBlockCache(inner, { file, memory: createBlockMemory(BLOCK_BYTES) });
    for (const at of [0, 1, 2]) {
      await expectRead(store, at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES);
      await file.settled();
    }
    expect(reads.length).toBe(3);
    for (const at of [0, 1, 2, 0]) {
      await expectRead(store, at * BLOCK_BYTES + 7, at * BLOCK_BYTES + 90);
      await file.settled();
    }
    expect(reads.length).toBe(3);
    await expectRead(store, 0, CONTENT.length);
    await store.close();
    expect(readdirSync(sandbox.path('cache'))).toEqual([]);
  });
});
