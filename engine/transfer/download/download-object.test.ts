import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { crc64Nvme, loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ByteRange, ObjectStore, ReadOptions } from '../../remotes/object-store.ts';
import { createFaults, withFaults } from '../../remotes/wrappers/with-faults.fixture.ts';
import {
  flipped,
  headOf,
  journalOf,
  KEY,
  limitOf,
  type MemorySink,
  memoryOf,
  memorySink,
  movingSink,
  never,
  readingOtherwise,
  type StoredExample,
  SUM_KINDS,
  storedWith,
} from './download.fixture.ts';
import { catObject, downloadWhole } from './download-object.ts';
import { downloadInRanges, type RangesDownload } from './download-ranges.ts';
import type { NotedRange } from './range-journal.ts';

beforeAll(loadCrc64);

const bytes = new Uint8Array(randomBytes(10_500));
const RANGE_BYTES = 1_000;
const gone = () => new DrayError('unreachable', 'Gone.', { retry: 'retry' });

function wholeOf({ info, store }: StoredExample) {
  const { etag, sizeBytes } = info;
  const into = new Uint8Array(sizeBytes);
  return downloadWhole({ store, key: KEY, etag, sizeBytes, into, limit: limitOf(), signal: never });
}

describe('downloadWhole', () => {
  it.each([...SUM_KINDS, 'none'] as const)('verifies by %s in one request', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 10_500 });
    const downloaded = await wholeOf(example);
    expect(new Uint8Array(downloaded.bytes)).toEqual(bytes);
    expect(downloaded.by).toBe(kind === 'none' ? 'sizes' : kind);
    expect(downloaded.info.etag).toBe(example.info.etag);
  });

  it.each(SUM_KINDS)('requests damaged bytes once more (%s)', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 10_500 });
    let reads = 0;
    const once = readingOtherwise(example.store, (read) => (reads++ === 0 ? flipped(read, 7) : read));
    expect(new Uint8Array((await wholeOf({ ...example, store: once })).bytes)).toEqual(bytes);
    expect(reads).toBe(2);
    const always = readingOtherwise(example.store, (read) => flipped(read, 7));
    await expect(wholeOf({ ...example, store: always })).rejects.toMatchObject({
      code: 'damaged',
      data: { key: KEY, by: kind },
    });
  });

  it('accepts only the listed state', async () => {
    const example = await storedWith('md5', bytes);
    const ignoring: ObjectStore = {
      ...example.store,
      read: (key, { ifMatch: _, ...request }) => example.store.read(key, request),
    };
    await example.store.put(KEY, randomBytes(10_500));
    for (const store of [example.store, ignoring])
      await expect(wholeOf({ ...example, store })).rejects.toMatchObject({
        code: 'io',
        data: { reason: 'changedWhileRead' },
      });
    await example.store.delete([KEY]);
    await expect(wholeOf(example)).rejects.toMatchObject({ code: 'io', data: { reason: 'vanished' } });
  });

  it('does not accept too few bytes, with or without etags', async () => {
    const example = await storedWith('none', bytes);
    const store = readingOtherwise(example.store, (read) => read.subarray(1));
    await expect(wholeOf({ ...example, store })).rejects.toMatchObject({ code: 'damaged' });
    const without = createMemoryStore({ etags: 'none', keepsChecksums: false });
    await without.put(KEY, bytes);
    const info = await headOf(without);
    await without.put(KEY, bytes.subarray(1));
    await expect(wholeOf({ store: without, info })).rejects.toMatchObject({
      data: { reason: 'changedWhileRead' },
    });
  });
});

type RangesTest = Partial<Pick<RangesDownload, 'journal' | 'memory' | 'onProgress' | 'signal' | 'sink'>>;

function rangesOf({ info, store }: StoredExample, more: RangesTest = {}) {
  const sink = memorySink(info.sizeBytes);
  const { memory } = memoryOf();
  const request = { store, info, sink, memory, signal: never, ...more };
  return downloadInRanges({ key: KEY, limit: limitOf(), rangeBytes: RANGE_BYTES, ...request });
}

describe('downloadInRanges', () => {
  it.each([...SUM_KINDS, 'none'] as const)('fetches all bytes and verifies by %s', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 3_000 });
    const sink = memorySink(bytes.length);
    const { budget, memory } = memoryOf();
    let progress = 0;
    const onProgress = (more: number) => {
      progress += more;
    };
    const downloaded = await rangesOf(example, { sink, memory, onProgress });
    expect(downloaded).toEqual({ by: kind === 'none' ? 'sizes' : kind, receivedBytes: bytes.length });
    expect(sink.bytes).toEqual(bytes);
    expect(sink.writes).toHaveLength(11);
    expect(progress).toBe(bytes.length);
    expect(budget.used).toBe(0);
  });

  it.each([...SUM_KINDS, 'none'] as const)(
    'keeps bytes that a store gave in memory of its own (%s)',
    async (kind) => {
      const example = await storedWith(kind, bytes, { partBytes: 3_000 });
      const store = readingOtherwise(example.store, (read) => new Uint8Array(read));
      const sink = memorySink(bytes.length);
      await rangesOf({ ...example, store }, { sink: movingSink(sink), journal: journalOf() });
      expect(sink.bytes).toEqual(bytes);
    },
  );

  it.each(SUM_KINDS)('reports damaged bytes (%s)', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 3_000 });
    const store = readingOtherwise(example.store, (read, start) =>
      start === 4_000 ? flipped(read, 999) : read,
    );
    const { budget, memory } = memoryOf();
    await expect(rangesOf({ ...example, store }, { memory })).rejects.toMatchObject({
      code: 'damaged',
      data: { key: KEY, by: kind },
    });
    expect(budget.used).toBe(0);
  });

  it('fetches an empty object', async () => {
    for (const kind of SUM_KINDS)
      expect(await rangesOf(await storedWith(kind, new Uint8Array(0)))).toEqual({
        by: kind,
        receivedBytes: 0,
      });
  });

  it('works with memory for a single range, even when ranges wait for each other', async () => {
    for (const kind of SUM_KINDS) {
      const { budget, memory } = memoryOf(1);
      const sink = memorySink(bytes.length);
      await rangesOf(await storedWith(kind, bytes), { memory, sink });
      expect(sink.bytes).toEqual(bytes);
      expect(budget.used).toBe(0);
    }
  });

  it.each([
    ['changed', () => randomBytes(10_500), 'changedWhileRead'],
    ['grew', () => randomBytes(10_600), 'changedWhileRead'],
    ['went away', () => undefined, 'vanished'],
  ])('detects that the object %s meanwhile', async (_, next, reason) => {
    for (const etags of ['md5', 'none'] as const) {
      let nowMs = 0;
      const clock = { ...systemClock, nowMs: () => nowMs++ };
      const inner = createMemoryStore({ etags, clock });
      await inner.put(KEY, bytes);
      const info = await headOf(inner);
      const faults = createFaults();
      faults
        .add('read')
        .before(async () => {
          const now = next();
          await (now ? inner.put(KEY, now) : inner.delete([KEY]));
        })
        .when(({ arguments: [, request] }) => (request as ReadOptions).range?.start === 5_000);
      const sink = memorySink(bytes.length);
      await expect(rangesOf({ store: withFaults(inner, faults), info }, { sink })).rejects.toMatchObject({
        code: 'io',
        data: { reason },
      });
      faults.verifyAllExercised();
    }
  });

  it('does not accept a range that is too short', async () => {
    const example = await storedWith('crc64nvme', bytes);
    const store = readingOtherwise(example.store, (read, start) =>
      start === 3_000 ? read.subarray(1) : read,
    );
    await expect(rangesOf({ ...example, store })).rejects.toMatchObject({ code: 'damaged' });
  });

  it.each(SUM_KINDS)('stops a stalled body on request, and releases its memory (%s)', async (kind) => {
    const example = await storedWith(kind, bytes);
    const stop = new AbortController();
    const stalling: ObjectStore = {
      ...example.store,
      read: async (key, request) => {
        if (request.range?.start !== 2_000) return example.store.read(key, request);
        setImmediate(() => stop.abort());
        const { promise, reject } = Promise.withResolvers<never>();
        request.signal!.addEventListener('abort', () => reject(new DrayError('aborted', 'Stopped.')));
        return promise;
      },
    };
    const { budget, memory } = memoryOf();
    const working = rangesOf({ ...example, store: stalling }, { memory, signal: stop.signal });
    await expect(working).rejects.toMatchObject({ code: 'aborted' });
    expect(budget.used).toBe(0);
  });

  it('releases memory only after the sink has finished with it', async () => {
    const example = await storedWith('md5', bytes);
    const { budget, memory } = memoryOf();
    let used: number | undefined;
    const slow = {
      write: async (offset: number) => {
        if (offset === 0) throw new DrayError('diskFull', 'Full.');
        if (offset !== 1_000) return;
        for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
        used = budget.used;
      },
    };
    await expect(rangesOf(example, { memory, sink: slow })).rejects.toMatchObject({ code: 'diskFull' });
    expect(used).toBeGreaterThan(0);
    expect(budget.used).toBe(0);
  });
});

const bytesIn = (notes: readonly NotedRange[]) => notes.reduce((sum, { end, start }) => sum + end - start, 0);

describe('an interrupted download', () => {
  async function brokenOff(example: StoredExample, sink: MemorySink) {
    const faults = createFaults();
    faults
      .add('read')
      .errorInstead(gone())
      .when(({ arguments: [, request] }) => (request as ReadOptions).range!.start >= 7_000);
    const journal = journalOf();
    const store = withFaults(example.store, faults);
    await expect(rangesOf({ ...example, store }, { sink, journal })).rejects.toMatchObject({
      code: 'unreachable',
    });
    return journal.notes;
  }

  it.each(SUM_KINDS)('fetches only missing ranges and verifies the whole by %s', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 3_000 });
    const sink = memorySink(bytes.length);
    const notes = await brokenOff(example, sink);
    expect(notes.length).toBeGreaterThan(2);
    const journal = journalOf(notes);
    const { by, receivedBytes } = await rangesOf(example, { sink, journal });
    expect(by).toBe(kind);
    expect(receivedBytes).toBe(bytes.length - bytesIn(notes));
    expect(notes.length + journal.notes.length).toBe(11);
    expect(sink.bytes).toEqual(bytes);
  });

  it.each(SUM_KINDS)('fetches ranges again that are not on disk as noted (%s)', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 3_000 });
    const sink = memorySink(bytes.length);
    const [first, second, ...notes] = await brokenOff(example, sink);
    // A power failure: the note exists, the bytes do not.
    sink.bytes.fill(0, first!.start, first!.end);
    const strange = { ...second!, end: second!.end - 1 };
    const journal = journalOf([first!, strange, ...notes]);
    const { receivedBytes } = await rangesOf(example, { sink, journal });
    expect(receivedBytes).toBe(bytes.length - bytesIn(notes));
    expect(sink.bytes).toEqual(bytes);
  });

  it('is damaged when the bytes on disk are complete but of another object', async () => {
    const example = await storedWith('crc64nvme', bytes);
    const sink = memorySink(bytes.length);
    sink.bytes.fill(1, 0, RANGE_BYTES);
    const crc64nvme = crc64Nvme(sink.bytes.subarray(0, RANGE_BYTES));
    const journal = journalOf([{ start: 0, end: RANGE_BYTES, crc64nvme }]);
    await expect(rangesOf(example, { sink, journal })).rejects.toMatchObject({ code: 'damaged' });
  });
});

async function cat(example: StoredExample, range?: ByteRange, limitBytes?: number) {
  const pieces: Uint8Array[] = [];
  const { budget, memory } = memoryOf(limitBytes);
  const { info, store } = example;
  const request = { store, info, memory, key: KEY, limit: limitOf(), signal: never };
  const write = async (piece: Uint8Array) => {
    await new Promise(setImmediate);
    pieces.push(piece.slice());
  };
  const done = await catObject({ ...request, rangeBytes: RANGE_BYTES, write, ...(range && { range }) });
  expect(budget.used).toBe(0);
  return { ...done, written: new Uint8Array(Buffer.concat(pieces)) };
}

describe('catObject', () => {
  it.each(SUM_KINDS)('writes the bytes in order, verified by %s', async (kind) => {
    const example = await storedWith(kind, bytes, { partBytes: 3_000 });
    const answers = readingOtherwise(example.store, (read) => read);
    // Later ranges answer first.
    const store: ObjectStore = {
      ...answers,
      read: async (key, request) => {
        for (let turn = 10_500 - request.range!.start; turn > 0; turn -= 1_000)
          await new Promise(setImmediate);
        return answers.read(key, request);
      },
    };
    const { by, written } = await cat({ ...example, store });
    expect(by).toBe(kind);
    expect(written).toEqual(bytes);
  });

  it.each([
    [{ start: 0, end: 10 }, 0, 10],
    [{ start: 999, end: 3_001 }, 999, 3_001],
    [{ start: 10_000, end: 99_999 }, 10_000, 10_500],
    [{ start: 20_000, end: 99_999 }, 10_500, 10_500],
  ])('writes a part of it, which cannot be verified (%o)', async (range, start, end) => {
    const { by, bytes: count, written } = await cat(await storedWith('crc64nvme', bytes), range);
    expect(written).toEqual(bytes.subarray(start, end));
    expect({ by, count }).toEqual({ by: 'sizes', count: end - start });
  });

  it('fetches ahead only as far as memory allows', async () => {
    expect((await cat(await storedWith('md5', bytes), undefined, 1)).written).toEqual(bytes);
  });

  it('reports at the end that the written bytes are damaged', async () => {
    const example = await storedWith('sha256', bytes);
    const store = readingOtherwise(example.store, (read, start) => (start === 0 ? flipped(read, 0) : read));
    await expect(cat({ ...example, store })).rejects.toMatchObject({ code: 'damaged' });
  });

  it('stops when the consumer fails', async () => {
    const { info, store } = await storedWith('md5', bytes);
    const write = async () => {
      throw new DrayError('io', 'EPIPE');
    };
    const { budget, memory } = memoryOf();
    const request = { store, info, memory, key: KEY, limit: limitOf(), signal: never, write };
    await expect(catObject({ ...request, rangeBytes: RANGE_BYTES })).rejects.toThrow('EPIPE');
    expect(budget.used).toBe(0);
  });
});
