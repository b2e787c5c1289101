import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import { systemClock } from '../base/clock.ts';
import { createMemoryStore } from '../remotes/memory-store.ts';
import type { MultipartStore, ObjectStore } from '../remotes/object-store.ts';
import { createAdaptiveLimit } from './adaptive-limit.ts';
import { isHeldPart } from './held-parts.ts';
import { partSizeFor } from './part-size.ts';
import type { JournaledUpload, UploadJournal } from './upload-journal.ts';
import { type LargeUpload, uploadLarge } from './upload-large.ts';

const PART_BYTES = 1_000;
const KEY = 'objects/ab/large';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dray-multipart-'));
  path = join(folder, 'large.bin');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function createJournal(): UploadJournal & { readonly rows: Map<string, JournaledUpload> } {
  const rows = new Map<string, JournaledUpload>();
  return {
    rows,
    load: (key) => rows.get(key),
    save: (key, upload) => rows.set(key, upload),
    forget: (key) => rows.delete(key),
  };
}

/** Counts what goes through, and lets a test get in the way of it. */
function watch(
  store: ObjectStore,
  before: { readonly part?: (number: number) => void; readonly complete?: () => void } = {},
) {
  const inner = store.multipart as MultipartStore;
  const seen = { created: 0, parts: [] as number[], listed: 0, completed: 0, aborted: 0, mostAtOnce: 0 };
  let underWay = 0;
  const multipart: MultipartStore = {
    ...inner,
    create: (...args) => {
      seen.created += 1;
      return inner.create(...args);
    },
    uploadPart: async (upload, number, bytes, options) => {
      before.part?.(number);
      underWay += 1;
      seen.mostAtOnce = Math.max(seen.mostAtOnce, underWay);
      await new Promise((resume) => setImmediate(resume));
      underWay -= 1;
      const part = await inner.uploadPart(upload, number, bytes, options);
      seen.parts.push(number);
      return part;
    },
    listParts: (...args) => {
      seen.listed += 1;
      return inner.listParts(...args);
    },
    complete: (...args) => {
      seen.completed += 1;
      before.complete?.();
      return inner.complete(...args);
    },
    abort: (...args) => {
      seen.aborted += 1;
      return inner.abort(...args);
    },
  };
  return { seen, store: { ...store, multipart } };
}

function requestOf(store: ObjectStore, journal: UploadJournal, sizeBytes: number): LargeUpload {
  return {
    store,
    journal,
    key: KEY,
    file: { path, sizeBytes },
    partSizeBytes: PART_BYTES,
    limit: createAdaptiveLimit({ clock: systemClock, fixed: 4 }),
    memory: new Budget(6 * PART_BYTES),
  };
}

async function storedBytes(store: ObjectStore): Promise<Uint8Array | undefined> {
  return (await store.read(KEY, { maxBytes: 1_000_000 }))?.bytes;
}

const unreachable = () => new DrayError('unreachable', 'The remote is gone.', { retry: 'retry' });

describe('uploadLarge', () => {
  it.each([1, 999, 1_000, 1_001, 10_500])(
    'stores a file of %i bytes as it is, in parallel parts',
    async (sizeBytes) => {
      const content = randomBytes(sizeBytes);
      await writeFile(path, content);
      const journal = createJournal();
      const { seen, store } = watch(createMemoryStore());
      const progress: number[] = [];
      const request = requestOf(store, journal, sizeBytes);
      const result = await uploadLarge({ ...request, onProgress: (doneBytes) => progress.push(doneBytes) });
      expect(result).toMatchObject({
        outcome: { written: true },
        sentParts: Math.ceil(sizeBytes / PART_BYTES),
        keptParts: 0,
      });
      expect(await storedBytes(store)).toEqual(new Uint8Array(content));
      expect(progress.at(-1)).toBe(sizeBytes);
      expect(seen.mostAtOnce).toBeLessThanOrEqual(4);
      if (sizeBytes > 4 * PART_BYTES) expect(seen.mostAtOnce).toBeGreaterThan(1);
      expect(journal.rows.size).toBe(0);
      expect(request.memory.used).toBe(0);
    },
  );

  it('goes on after a crash without sending a finished part again', async () => {
    const content = randomBytes(20 * PART_BYTES);
    await writeFile(path, content);
    const journal = createJournal();
    const memory = createMemoryStore();
    const first = watch(memory, {
      part: (number) => {
        if (number > 12) throw unreachable();
      },
    });
    await expect(uploadLarge(requestOf(first.store, journal, content.length))).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(first.seen.aborted).toBe(0);
    expect(journal.rows.size).toBe(1);
    const finished = first.seen.parts.length;
    expect(finished).toBeGreaterThan(5);

    const second = watch(memory);
    const result = await uploadLarge(requestOf(second.store, journal, content.length));
    expect(result).toMatchObject({ keptParts: finished, sentParts: 20 - finished });
    expect(second.seen.created).toBe(0);
    expect(second.seen.parts.filter((number) => first.seen.parts.includes(number))).toEqual([]);
    expect(await storedBytes(memory)).toEqual(new Uint8Array(content));
    expect(journal.rows.size).toBe(0);
  });

  it('keeps the part size of the attempt before, whatever is wished for now', async () => {
    const content = randomBytes(10 * PART_BYTES);
    await writeFile(path, content);
    const journal = createJournal();
    const memory = createMemoryStore();
    const failing = watch(memory, {
      complete: () => {
        throw unreachable();
      },
    });
    await expect(uploadLarge(requestOf(failing.store, journal, content.length))).rejects.toMatchObject({
      code: 'unreachable',
    });
    const again = { ...requestOf(memory, journal, content.length), partSizeBytes: 3 * PART_BYTES };
    expect(await uploadLarge(again)).toMatchObject({ keptParts: 10, sentParts: 0 });
    expect(await storedBytes(memory)).toEqual(new Uint8Array(content));
  });

  it('sends the parts again that differ from the file as it is now', async () => {
    const content = randomBytes(10 * PART_BYTES);
    await writeFile(path, content);
    const journal = createJournal();
    const memory = createMemoryStore();
    const failing = watch(memory, {
      complete: () => {
        throw unreachable();
      },
    });
    await expect(uploadLarge(requestOf(failing.store, journal, content.length))).rejects.toThrow();
    content[3_500] = (content[3_500] ?? 0) ^ 1;
    await writeFile(path, content);
    const second = watch(memory);
    await uploadLarge(requestOf(second.store, journal, content.length));
    expect(second.seen.parts).toEqual([4]);
    expect(await storedBytes(memory)).toEqual(new Uint8Array(content));
  });

  it('begins anew when the store has forgotten the upload', async () => {
    const content = randomBytes(3 * PART_BYTES);
    await writeFile(path, content);
    const journal = createJournal();
    journal.save(KEY, { uploadId: 'long-gone', partSizeBytes: PART_BYTES });
    const { seen, store } = watch(createMemoryStore());
    expect(await uploadLarge(requestOf(store, journal, content.length))).toMatchObject({ sentParts: 3 });
    expect(seen).toMatchObject({ listed: 1, created: 1, aborted: 0 });
  });

  it('stops on request, holds nothing, and keeps what was sent for the next time', async () => {
    const content = randomBytes(30 * PART_BYTES);
    await writeFile(path, content);
    const journal = createJournal();
    const memory = createMemoryStore();
    const stop = new AbortController();
    const { seen, store } = watch(memory, {
      part: (number) => {
        if (number === 8) stop.abort();
      },
    });
    const request = { ...requestOf(store, journal, content.length), signal: stop.signal };
    await expect(uploadLarge(request)).rejects.toMatchObject({ code: 'aborted' });
    expect(seen.parts.length).toBeLessThan(12);
    expect(seen.aborted).toBe(0);
    expect(request.memory.used).toBe(0);
    expect(request.limit.stats().inFlight).toBe(0);
    expect(await uploadLarge(requestOf(memory, journal, content.length))).toMatchObject({
      keptParts: seen.parts.length,
    });
  });

  it('aborts the upload when the object is there already', async () => {
    await writeFile(path, randomBytes(3 * PART_BYTES));
    const journal = createJournal();
    const { seen, store } = watch(createMemoryStore());
    await store.put(KEY, new Uint8Array([1]));
    const result = await uploadLarge({
      ...requestOf(store, journal, 3 * PART_BYTES),
      condition: { absent: true },
    });
    expect(result.outcome).toEqual({ written: false });
    expect(seen.aborted).toBe(1);
    expect(journal.rows.size).toBe(0);
    expect(await storedBytes(store)).toEqual(new Uint8Array([1]));
  });

  it('aborts the upload when the file changed, noticed by its length or by the caller', async () => {
    const journal = createJournal();
    await writeFile(path, randomBytes(5 * PART_BYTES));
    const shrinking = watch(createMemoryStore());
    await truncate(path, 2_500);
    await expect(uploadLarge(requestOf(shrinking.store, journal, 5 * PART_BYTES))).rejects.toMatchObject({
      code: 'io',
    });
    expect(shrinking.seen.aborted).toBe(1);
    expect(journal.rows.size).toBe(0);

    const changing = watch(createMemoryStore());
    const beforeComplete = () => {
      throw new DrayError('io', 'large.bin changed while it was read.');
    };
    const request = { ...requestOf(changing.store, journal, 2_500), beforeComplete };
    await expect(uploadLarge(request)).rejects.toMatchObject({ code: 'io' });
    expect(changing.seen).toMatchObject({ aborted: 1, completed: 0 });
    expect(journal.rows.size).toBe(0);
    expect(await storedBytes(changing.store)).toBeUndefined();
  });

  it('names the file that it cannot read, before it asks the store for anything', async () => {
    const { seen, store } = watch(createMemoryStore());
    await expect(uploadLarge(requestOf(store, createJournal(), 10))).rejects.toMatchObject({
      code: 'io',
      data: { path },
    });
    expect(seen.created).toBe(0);
  });
});

describe('partSizeFor', () => {
  it('keeps to 10,000 parts at any size that S3 takes', () => {
    const mib = 1024 * 1024;
    expect(partSizeFor(1)).toBe(8 * mib);
    for (const sizeBytes of [80_000 * mib, 80_000 * mib + 1, 1024 ** 4, 5 * 1024 ** 4]) {
      const partSizeBytes = partSizeFor(sizeBytes);
      expect(Math.ceil(sizeBytes / partSizeBytes)).toBeLessThanOrEqual(10_000);
      expect(partSizeBytes % mib).toBe(0);
    }
  });
});

describe('isHeldPart', () => {
  const bytes = new TextEncoder().encode('123456789');
  const crc = 0xcbf43926;
  const held = { number: 1, etag: 'opaque', sizeBytes: 9 };

  it('believes the sum that the store tells', () => {
    expect(isHeldPart({ ...held, crc32: crc }, bytes, { crc32: crc })).toBe(true);
    expect(isHeldPart({ ...held, crc32: crc ^ 1 }, bytes, { crc32: crc })).toBe(false);
    expect(
      isHeldPart({ ...held, sha256: createHash('sha256').update(bytes).digest('base64') }, bytes, {
        crc32: crc,
      }),
    ).toBe(true);
    expect(isHeldPart({ ...held, sha256: 'wrong', crc32: crc }, bytes, { crc32: crc })).toBe(false);
    expect(isHeldPart({ ...held, etag: '25f9e794323b453885f5181f1b624d0b' }, bytes, { crc32: crc })).toBe(
      true,
    );
  });

  it('does not believe a size alone', () => {
    expect(isHeldPart(held, bytes, { crc32: crc })).toBe(false);
    expect(isHeldPart({ ...held, sizeBytes: 8, crc32: crc }, bytes, { crc32: crc })).toBe(false);
    expect(isHeldPart({ ...held, etag: '0'.repeat(32) }, bytes, { crc32: crc })).toBe(false);
  });
});
