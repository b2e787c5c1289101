/**
 * Large objects downloaded among many others: in stretches, one request each. `download-object.test.ts` tests
 * concurrent ranges.
 */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { crc64Nvme, loadCrc64 } from '../../checksums/crc64-nvme.ts';
import type { ByteRange, GetOptions, ObjectStore } from '../../remotes/object-store.ts';
import {
  flipped,
  journalOf,
  KEY,
  limitOf,
  memoryOf,
  memorySink,
  movingSink,
  never,
  type StoredExample,
  SUM_KINDS,
  storedWith,
} from './download.fixture.ts';
import { downloadInRanges, type RangesDownload } from './download-ranges.ts';
import type { NotedRange } from './range-journal.ts';

beforeAll(loadCrc64);

const bytes = new Uint8Array(randomBytes(10_500));
const RANGE_BYTES = 1_000;

/** The store, with bodies cut into pieces of this size, each changed. Records the requests. */
function sending(store: ObjectStore, pieceBytes: number, change = (piece: Uint8Array, _at: number) => piece) {
  const gets: GetOptions[] = [];
  const cutting: ObjectStore = {
    ...store,
    get: async (key, call = {}) => {
      gets.push(call);
      const read = await store.get(key, call);
      if (!read) return read;
      async function* body() {
        const parts: Uint8Array[] = [];
        for await (const part of read!.body) parts.push(part);
        const all = new Uint8Array(Buffer.concat(parts));
        for (let at = 0; at < all.length; at += pieceBytes)
          yield change(all.slice(at, at + pieceBytes), at + (call.range?.start ?? 0));
      }
      return { ...read, body: { [Symbol.asyncIterator]: body, destroy: () => {} } };
    },
    read: () => Promise.reject(new Error('A range was read by itself.')),
  };
  return { gets, store: cutting };
}

function download({ info, store }: StoredExample, more: Partial<RangesDownload> = {}) {
  const request = { store, info, key: KEY, limit: limitOf(), rangeBytes: RANGE_BYTES, signal: never };
  const { memory } = memoryOf();
  const sink = memorySink(info.sizeBytes);
  return downloadInRanges({ ...request, memory, sink, isOneOfMany: () => true, ...more });
}

const noteOf = (start: number): NotedRange => {
  const end = Math.min(start + RANGE_BYTES, bytes.length);
  return { start, end, crc64nvme: crc64Nvme(bytes.subarray(start, end)) };
};
const allNotes = () => Array.from({ length: 11 }, (_, at) => noteOf(at * RANGE_BYTES));

describe('a large object among many', () => {
  it.each([...SUM_KINDS, 'none'] as const)('is fetched by one request, verified by %s', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 3_000 });
    const { gets, store } = sending(example.store, 777);
    const sink = memorySink(bytes.length);
    const { budget, memory } = memoryOf();
    const journal = journalOf();
    let progress = 0;
    const onProgress = (more: number) => {
      progress += more;
    };
    const downloaded = await download({ ...example, store }, { sink, memory, journal, onProgress });
    expect(downloaded).toEqual({ by: kind === 'none' ? 'sizes' : kind, receivedBytes: bytes.length });
    expect(sink.bytes).toEqual(bytes);
    expect(gets.map(({ ifMatch, range }) => ({ ifMatch, range }))).toEqual([
      { ifMatch: example.info.etag, range: undefined },
    ]);
    expect(journal.notes).toEqual(allNotes());
    expect(progress).toBe(bytes.length);
    expect(budget.used).toBe(0);
  });

  it('notes each range correctly, for any pieces and order of writes (property)', async () => {
    const example = await storedWith('md5', bytes);
    const cases = fc.asyncProperty(
      fc.integer({ min: 100, max: 4_000 }),
      fc.boolean(),
      async (size, isSlow) => {
        const journal = journalOf();
        const sink = memorySink(bytes.length);
        const write = async (offset: number, piece: Uint8Array) => {
          if (isSlow && offset % 3 === 0) await new Promise(setImmediate);
          await sink.write(offset, piece);
        };
        await download(
          { ...example, store: sending(example.store, size).store },
          { journal, sink: { ...sink, write } },
        );
        const byStart = journal.notes.toSorted((left, right) => left.start - right.start);
        expect(byStart).toEqual(allNotes());
        expect(sink.bytes).toEqual(bytes);
      },
    );
    await fc.assert(cases, { numRuns: 30 });
  });

  it('is requested only where nothing is noted', async () => {
    const example = await storedWith('crc64nvme', bytes);
    const { gets, store } = sending(example.store, 777);
    const sink = memorySink(bytes.length);
    const held = [0, 4_000, 5_000].map(noteOf);
    for (const { end, start } of held) sink.bytes.set(bytes.subarray(start, end), start);
    const { receivedBytes } = await download({ ...example, store }, { sink, journal: journalOf(held) });
    expect(gets.map(({ range }) => range)).toEqual([
      { start: 1_000, end: 4_000 },
      { start: 6_000, end: 10_500 },
    ]);
    expect(receivedBytes).toBe(7_500);
    expect(sink.bytes).toEqual(bytes);
  });

  it.each(SUM_KINDS)('is damaged when a byte differs (%s)', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 3_000 });
    const { store } = sending(example.store, 1_000, (piece, at) =>
      at === 4_000 ? flipped(piece, 9) : piece,
    );
    await expect(download({ ...example, store })).rejects.toMatchObject({
      code: 'damaged',
      data: { by: kind },
    });
  });

  it.each([
    ['more', (piece: Uint8Array) => new Uint8Array(piece.length + 1)],
    ['fewer', (piece: Uint8Array) => piece.subarray(1)],
  ])('is damaged when %s bytes arrive than expected', async (_, change) => {
    const example = await storedWith('md5', bytes);
    const { budget, memory } = memoryOf();
    const { store } = sending(example.store, 1_000, change);
    await expect(download({ ...example, store }, { memory })).rejects.toMatchObject({ code: 'damaged' });
    expect(budget.used).toBe(0);
  });

  it.each([
    ['replaced', (store: ObjectStore) => store.put(KEY, randomBytes(10_500)), 'changedWhileRead'],
    ['removed', (store: ObjectStore) => store.delete([KEY]), 'vanished'],
  ])('is accepted only in the expected state (%s)', async (_, change, reason) => {
    const example = await storedWith('md5', bytes);
    const heedless: ObjectStore = {
      ...example.store,
      get: (key, { ifMatch: _ifMatch, ...call } = {}) => example.store.get(key, call),
    };
    await change(example.store);
    for (const store of [example.store, heedless])
      await expect(download({ ...example, store })).rejects.toMatchObject({ code: 'io', data: { reason } });
  });

  it('releases its memory only after the sink has finished with it', async () => {
    const example = await storedWith('md5', bytes);
    const { budget, memory } = memoryOf();
    let used: number | undefined;
    const sink = {
      write: async (offset: number) => {
        if (offset === 0) throw new DrayError('diskFull', 'Full.');
        for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
        used = budget.used;
      },
    };
    const { store } = sending(example.store, 1_000);
    await expect(download({ ...example, store }, { memory, sink })).rejects.toMatchObject({
      code: 'diskFull',
    });
    expect(used).toBeGreaterThan(0);
    expect(budget.used).toBe(0);
  });

  it.each(SUM_KINDS)(
    'is verified even if the sink tries to move its bytes to another thread (%s)',
    async (kind) => {
      const example = await storedWith(kind, bytes, { partBytes: 3_000 });
      const sink = memorySink(bytes.length);
      const { store } = sending(example.store, RANGE_BYTES);
      const downloaded = await download({ ...example, store }, { sink: movingSink(sink) });
      expect(downloaded).toEqual({ by: kind, receivedBytes: bytes.length });
      expect(sink.bytes).toEqual(bytes);
    },
  );

  it('fails when a digest does, without waiting for later pieces', async () => {
    const example = await storedWith('md5', bytes);
    let updates = 0;
    const openDigest = () => ({
      update: async () => {
        updates += 1;
        await new Promise(setImmediate);
        if (updates === 2) throw new DrayError('internal', 'The thread died.');
      },
      end: () => new Uint8Array(16),
    });
    const { store } = sending(example.store, RANGE_BYTES);
    await expect(download({ ...example, store }, { openDigest })).rejects.toMatchObject({ code: 'internal' });
  });

  it('fetches a noted range again that is wrong on disk, with one request in flight', async () => {
    const example = await storedWith('md5', bytes);
    const sink = memorySink(bytes.length);
    const noted = [0, 2_000].map(noteOf);
    const { memory } = memoryOf(64 * 1024 * 1024);
    const reads: (ByteRange | undefined)[] = [];
    const read = async (offset: number, into: Uint8Array) => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      return sink.read!(offset, into);
    };
    const store: ObjectStore = {
      ...sending(example.store, 100).store,
      read: (key, call) => {
        reads.push(call.range);
        return example.store.read(key, call);
      },
    };
    await download(
      { ...example, store },
      { sink: { ...sink, read }, journal: journalOf(noted), limit: limitOf(1), memory },
    );
    expect(reads.map((range) => range?.start)).toEqual([0, 2_000]);
    expect(sink.bytes).toEqual(bytes);
  });

  it('is fetched even if the answer has no size', async () => {
    const example = await storedWith('md5', bytes);
    const store: ObjectStore = {
      ...example.store,
      get: async (key, call) => {
        const read = (await example.store.get(key, call))!;
        return { ...read, sizeBytes: Number.NaN, info: { ...read.info, sizeBytes: Number.NaN } };
      },
    };
    const sink = memorySink(bytes.length);
    await download({ ...example, store }, { sink });
    expect(sink.bytes).toEqual(bytes);
  });

  it('continues by concurrent ranges once it is alone', async () => {
    const example = await storedWith('crc64nvme', bytes);
    const sink = memorySink(bytes.length);
    const journal = journalOf([noteOf(3_000)]);
    sink.bytes.set(bytes.subarray(3_000, 4_000), 3_000);
    let asked = 0;
    // The first stretch ends at a noted range; the function is called again after it.
    const isOneOfMany = () => asked++ === 0;
    const gets: (ByteRange | undefined)[] = [];
    const reads: (ByteRange | undefined)[] = [];
    const store: ObjectStore = {
      ...example.store,
      get: (key, call) => {
        gets.push(call?.range);
        return example.store.get(key, call);
      },
      read: (key, call) => {
        reads.push(call.range);
        return example.store.read(key, call);
      },
    };
    await download({ ...example, store }, { sink, journal, isOneOfMany });
    expect(gets).toEqual([{ start: 0, end: 3_000 }]);
    expect(reads).toHaveLength(7);
    expect(sink.bytes).toEqual(bytes);
  });
});
