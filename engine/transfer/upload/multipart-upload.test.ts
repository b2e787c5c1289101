import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import { systemClock } from '../../base/clock.ts';
import { crc64Nvme } from '../../checksums/crc64-nvme.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import { createFaults, type FaultMethod, withFaults } from '../../remotes/wrappers/with-faults.fixture.ts';
import { createMeter, withMeter } from '../../remotes/wrappers/with-meter.ts';
import { withRetry } from '../../remotes/wrappers/with-retry.ts';
import { createThrottle, withThrottle } from '../../remotes/wrappers/with-throttle.ts';
import { budgetedMemory } from './budgeted-memory.ts';
import { uploadInParts } from './multipart-upload.ts';
import type { ObjectSource } from './object-source.ts';
import {
  bytesSource,
  createJournal,
  faultyStore,
  KEY,
  PART_BYTES,
  storedBytes,
  uploadOf,
  withMultipart,
} from './upload.fixture.ts';
import type { UploadJournal } from './upload-journal.ts';

const gone = () => new DrayError('unreachable', 'The remote is gone.', { retry: 'retry' });
const changed = () => new DrayError('io', 'It changed.', { data: { reason: 'changedWhileRead' } });

describe('uploadInParts', () => {
  it('stores the bytes with description and checksum of the whole, and returns each block', async () => {
    const bytes = randomBytes(10_500);
    const { inner, store } = faultyStore();
    const journal = createJournal();
    const progress: number[] = [];
    const description = { contentType: 'video/mp4', metadata: { mtime: '1.5' } };
    const uploaded = await uploadInParts(
      uploadOf(store, bytesSource(bytes), {
        description,
        journal,
        onProgress: (sent) => progress.push(sent),
      }),
    );
    const info = await inner.head(KEY, { checksums: true });
    expect(info).toMatchObject({
      ...description,
      checksums: { covers: 'whole', crc64nvme: crc64Nvme(bytes) },
    });
    expect(uploaded).toMatchObject({
      etag: info?.etag,
      confirmedBy: 'checksum',
      sentParts: 11,
      sentBytes: 10_500,
      keptParts: 0,
      copiedParts: 0,
      crc64nvme: crc64Nvme(bytes),
    });
    const cut = Array.from({ length: 11 }, (_, at) => bytes.subarray(at * PART_BYTES, (at + 1) * PART_BYTES));
    expect(uploaded.blocks).toEqual({ blockBytes: PART_BYTES, sums: cut.map((part) => crc64Nvme(part)) });
    expect(await storedBytes(store)).toEqual(new Uint8Array(bytes));
    expect(progress.reduce((sum, sent) => sum + sent, 0)).toBe(10_500);
    expect(journal.rows.size).toBe(0);
  });

  it('sends parts as small as the store wants, through all wrappers, and resumes above 10,000', async () => {
    const sizes = new Set<number>();
    let left = 10_005;
    const { inner } = faultyStore();
    const limited = withMultipart(inner, (multipart) => ({
      partBytesMax: 2,
      uploadPart: (upload, number, part, options) => {
        sizes.add(part.byteLength);
        left -= 1;
        return left < 0 ? Promise.reject(gone()) : multipart.uploadPart(upload, number, part, options);
      },
    }));
    const clock = systemClock;
    const throttle = createThrottle({ bytesPerSecond: () => undefined, clock });
    const wrapped = withThrottle(withMeter(withFaults(limited, createFaults()), createMeter()), throttle);
    const store = withRetry(wrapped, { clock, attemptsMax: 1 });
    const bytes = randomBytes(20_020);
    const journal = createJournal();
    const upload = () => uploadInParts(uploadOf(store, bytesSource(bytes), { journal }));
    await expect(upload()).rejects.toMatchObject({ code: 'unreachable' });
    left = Number.POSITIVE_INFINITY;
    expect(await upload()).toMatchObject({ keptParts: 10_005, sentParts: 5 });
    expect(sizes).toEqual(new Set([2]));
    expect(await storedBytes(inner)).toEqual(new Uint8Array(bytes));
  });

  it.each<[string, FaultMethod, 'before' | 'after', { sent: number; kept: number }]>([
    ['as the upload begins', 'create', 'before', { sent: 10, kept: 0 }],
    ['as the upload begins, its answer lost', 'create', 'after', { sent: 10, kept: 0 }],
    ['before the object is completed', 'complete', 'before', { sent: 0, kept: 10 }],
    ['when it is complete, its answer lost', 'complete', 'after', { sent: 10, kept: 0 }],
    ['when it is complete and checked', 'head', 'before', { sent: 10, kept: 0 }],
  ])('resumes after a crash %s', async (_, method, when, { kept, sent }) => {
    const bytes = randomBytes(10_000);
    const { faults, store } = faultyStore();
    const journal = createJournal();
    const fault = faults.add(method);
    if (when === 'before') fault.errorInstead(gone());
    else
      fault.after(() => {
        throw gone();
      });
    await expect(uploadInParts(uploadOf(store, bytesSource(bytes), { journal }))).rejects.toMatchObject({
      code: 'unreachable',
    });
    const again = await uploadInParts(uploadOf(store, bytesSource(bytes), { journal }));
    expect(again).toMatchObject({ sentParts: sent, keptParts: kept, confirmedBy: 'checksum' });
    expect(await storedBytes(store)).toEqual(new Uint8Array(bytes));
    expect(journal.rows.size).toBe(0);
    faults.verifyAllExercised();
  });

  it('keeps the parts of the same source without reading them again', async () => {
    const bytes = randomBytes(20_000);
    const { faults, store } = faultyStore();
    const journal = createJournal();
    faults
      .add('uploadPart')
      .errorInstead(gone())
      .when((call) => (call.arguments[1] as number) > 12);
    const first = bytesSource(bytes);
    await expect(uploadInParts(uploadOf(store, first, { journal }))).rejects.toThrow();
    const second = bytesSource(bytes);
    const again = await uploadInParts(uploadOf(store, second, { journal }));
    expect(again.keptParts).toBeGreaterThan(5);
    expect(again.keptParts + again.sentParts).toBe(20);
    expect(second.reads).toHaveLength(again.sentParts);
    expect(again.blocks.sums).toHaveLength(20);
    expect(await storedBytes(store)).toEqual(new Uint8Array(bytes));
  });

  it('compares the parts with a file without a token, and sends those that differ', async () => {
    const bytes = randomBytes(10_000);
    const { faults, store } = faultyStore();
    const journal = createJournal();
    faults.add('complete').errorInstead(gone());
    await expect(uploadInParts(uploadOf(store, bytesSource(bytes, ''), { journal }))).rejects.toThrow();
    bytes[3_500] = (bytes[3_500] ?? 0) ^ 1;
    const again = await uploadInParts(uploadOf(store, bytesSource(bytes, ''), { journal }));
    expect(again).toMatchObject({ keptParts: 9, sentParts: 1 });
    expect(await storedBytes(store)).toEqual(new Uint8Array(bytes));
  });

  it('starts again when the description has changed', async () => {
    const bytes = randomBytes(5_000);
    const { faults, inner, store } = faultyStore();
    const journal = createJournal();
    const described = (mtime: string) => ({ journal, description: { metadata: { mtime } } });
    faults.add('complete').errorInstead(gone());
    await expect(uploadInParts(uploadOf(store, bytesSource(bytes), described('1')))).rejects.toThrow();
    const again = await uploadInParts(uploadOf(store, bytesSource(bytes), described('2')));
    expect(again).toMatchObject({ keptParts: 0, sentParts: 5 });
    expect(await inner.head(KEY)).toMatchObject({ metadata: { mtime: '2' } });
    expect((await inner.multipart?.listUploads({ prefix: '' }))?.uploads).toEqual([]);
  });

  it('aborts the upload when the source changed, whenever that is detected', async () => {
    const bytes = randomBytes(5_000);
    const sources: ObjectSource[] = [
      {
        ...bytesSource(bytes),
        read: async () => {
          throw changed();
        },
      },
      {
        ...bytesSource(bytes),
        checkUnchanged: async () => {
          throw changed();
        },
      },
    ];
    for (const source of sources) {
      const { inner, store } = faultyStore();
      const journal = createJournal();
      await expect(uploadInParts(uploadOf(store, source, { journal }))).rejects.toMatchObject({
        code: 'io',
        data: { reason: 'changedWhileRead' },
      });
      expect((await inner.multipart?.listUploads({ prefix: '' }))?.uploads).toEqual([]);
      expect(await inner.head(KEY)).toBeUndefined();
      expect(journal.rows.size).toBe(0);
    }
  });

  it('aborts the upload when the caller rejects the source', async () => {
    const { inner, store } = faultyStore();
    const beforeComplete = () => {
      throw new DrayError('io', 'large.bin is not what was hashed.');
    };
    const upload = uploadOf(store, bytesSource(randomBytes(5_000)), { beforeComplete });
    await expect(uploadInParts(upload)).rejects.toMatchObject({ code: 'io' });
    expect((await inner.multipart?.listUploads({ prefix: '' }))?.uploads).toEqual([]);
    expect(await inner.head(KEY)).toBeUndefined();
  });

  it('aborts the upload when the object exists', async () => {
    const { inner, store } = faultyStore();
    await inner.put(KEY, new Uint8Array([1]));
    const upload = uploadOf(store, bytesSource(randomBytes(5_000)), { condition: { absent: true } });
    expect(await uploadInParts(upload)).toMatchObject({ outcome: { written: false }, etag: '' });
    expect((await inner.multipart?.listUploads({ prefix: '' }))?.uploads).toEqual([]);
    expect(await storedBytes(inner)).toEqual(new Uint8Array([1]));
  });

  it('keeps the part size of the earlier attempt, whatever is requested now', async () => {
    const bytes = randomBytes(10_000);
    const { faults, store } = faultyStore();
    const journal = createJournal();
    faults.add('complete').errorInstead(gone());
    await expect(uploadInParts(uploadOf(store, bytesSource(bytes), { journal }))).rejects.toThrow();
    const wish = { journal, partSizeBytes: 3 * PART_BYTES };
    const again = await uploadInParts(uploadOf(store, bytesSource(bytes), wish));
    expect(again).toMatchObject({ keptParts: 10, sentParts: 0, blocks: { blockBytes: PART_BYTES } });
  });

  it('starts again when the store has forgotten the upload', async () => {
    const journal = createJournal();
    journal.save(KEY, { uploadId: 'long-gone', partSizeBytes: PART_BYTES });
    const { store } = faultyStore();
    const upload = uploadOf(store, bytesSource(randomBytes(3_000)), { journal });
    expect(await uploadInParts(upload)).toMatchObject({ sentParts: 3, keptParts: 0 });
  });

  it('starts again when these keys may not list the parts, and removes the old ones', async () => {
    const bytes = randomBytes(5_000);
    const { faults, inner, store } = faultyStore();
    const journal = createJournal();
    faults.add('complete').errorInstead(gone());
    await expect(uploadInParts(uploadOf(store, bytesSource(bytes), { journal }))).rejects.toThrow();
    faults.add('listParts').errorInstead(new DrayError('accessDenied', 'Not this one.'));
    const again = await uploadInParts(uploadOf(store, bytesSource(bytes), { journal }));
    expect(again).toMatchObject({ sentParts: 5, keptParts: 0 });
    expect((await inner.multipart!.listUploads({ prefix: '' })).uploads).toEqual([]);
    faults.verifyAllExercised();
  });

  it('does not start again when the credentials are refused', async () => {
    const { faults, store } = faultyStore();
    const journal = createJournal();
    journal.save(KEY, { uploadId: 'kept', partSizeBytes: PART_BYTES });
    const data = { reason: 'credentials' };
    faults.add('listParts').errorInstead(new DrayError('accessDenied', 'Expired.', { data }));
    const upload = uploadOf(store, bytesSource(randomBytes(3_000)), { journal });
    await expect(uploadInParts(upload)).rejects.toMatchObject({ code: 'accessDenied' });
    expect(journal.load(KEY)?.uploadId).toBe('kept');
  });

  it('stops on request, holds no memory, and keeps sent parts for the next time', async () => {
    const bytes = randomBytes(30_000);
    const { inner } = faultyStore();
    const stop = new AbortController();
    const sent: number[] = [];
    const store = withMultipart(inner, (multipart) => ({
      uploadPart: async (upload, number, ...rest) => {
        if (number === 8) stop.abort();
        const part = await multipart.uploadPart(upload, number, ...rest);
        sent.push(number);
        return part;
      },
    }));
    const journal = createJournal();
    const memory = new Budget(6 * PART_BYTES);
    const request = uploadOf(store, bytesSource(bytes), {
      journal,
      memory: budgetedMemory(memory),
      signal: stop.signal,
    });
    await expect(uploadInParts(request)).rejects.toMatchObject({ code: 'aborted' });
    expect(sent.length).toBeLessThan(12);
    expect(memory.used).toBe(0);
    expect(request.limit.stats().inFlight).toBe(0);
    const again = await uploadInParts(uploadOf(inner, bytesSource(bytes), { journal }));
    expect(again.keptParts).toBe(sent.length);
  });

  it('uses CRC-32 on request, with a journal row without a token', async () => {
    const bytes = randomBytes(10_000);
    const { faults, inner, store } = faultyStore();
    const rows = createJournal();
    const journal: UploadJournal = { ...rows, save: (key, { token: _, ...row }) => rows.save(key, row) };
    const upload = () => uploadInParts(uploadOf(store, bytesSource(bytes), { journal, checksum: 'crc32' }));
    faults.add('complete').errorInstead(gone());
    await expect(upload()).rejects.toThrow();
    expect(await upload()).toMatchObject({
      keptParts: 10,
      sentParts: 0,
      confirmedBy: 'checksum',
      blocks: { sums: [] },
    });
    expect((await inner.head(KEY, { checksums: true }))?.checksums).toEqual({
      covers: 'whole',
      crc32: crc32(bytes),
    });
  });

  it('keeps the upload when reading failed for a temporary reason', async () => {
    const { inner, store } = faultyStore();
    const journal = createJournal();
    const source: ObjectSource = {
      ...bytesSource(randomBytes(5_000)),
      read: async () => {
        throw new DrayError('io', 'EIO.');
      },
    };
    await expect(uploadInParts(uploadOf(store, source, { journal }))).rejects.toMatchObject({ code: 'io' });
    expect((await inner.multipart?.listUploads({ prefix: '' }))?.uploads).toHaveLength(1);
    expect(journal.rows.size).toBe(1);
  });

  it('fails when the store reports that bytes changed on the wire', async () => {
    const inner = createMemoryStore();
    const store = withMultipart(inner, (multipart) => ({
      uploadPart: (upload, number, bytes, options) => {
        const spoilt = bytes.slice();
        if (number === 3) spoilt[0] = (spoilt[0] ?? 0) ^ 1;
        return multipart.uploadPart(upload, number, spoilt, options);
      },
    }));
    await expect(uploadInParts(uploadOf(store, bytesSource(randomBytes(5_000))))).rejects.toMatchObject({
      code: 'checksumRefused',
    });
    expect(await inner.head(KEY)).toBeUndefined();
  });

  it('starts again the next time when the parts do not form the whole', async () => {
    const { inner } = faultyStore();
    const journal = createJournal();
    const store = withMultipart(inner, (multipart) => ({
      complete: (upload, parts, options) => multipart.complete(upload, parts.slice(0, -1), options),
    }));
    const upload = uploadOf(store, bytesSource(randomBytes(5_000)), { journal });
    await expect(uploadInParts(upload)).rejects.toMatchObject({ code: 'damaged' });
    expect(await inner.head(KEY)).toBeUndefined();
    expect(journal.rows.size).toBe(0);
  });

  it.each([
    ['another size', { sizeBytes: 4_999 }],
    ['another checksum', { checksums: { covers: 'whole', crc64nvme: 1n } }],
  ] as const)('never accepts an object that has %s in the end', async (_, lie) => {
    const { inner } = faultyStore();
    const store = { ...inner, head: async () => ({ ...(await inner.head(KEY))!, ...lie }) };
    await expect(uploadInParts(uploadOf(store, bytesSource(randomBytes(5_000))))).rejects.toMatchObject({
      code: 'damaged',
      data: { key: KEY },
    });
  });

  it('distinguishes another writer from damage', async () => {
    const { inner } = faultyStore();
    const store = {
      ...inner,
      head: async () => {
        await inner.put(KEY, new Uint8Array(7));
        return inner.head(KEY, { checksums: true });
      },
    };
    await expect(uploadInParts(uploadOf(store, bytesSource(randomBytes(5_000))))).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('uses the MD5s of the parts when the store has no checksums, and otherwise the size', async () => {
    const bytes = randomBytes(5_000);
    const quiet = createMemoryStore({ etags: 'md5', keepsChecksums: false });
    expect(await uploadInParts(uploadOf(quiet, bytesSource(bytes)))).toMatchObject({
      confirmedBy: 'md5OfParts',
    });
    const silent = createMemoryStore({ etags: 'counted', keepsChecksums: false });
    expect(await uploadInParts(uploadOf(silent, bytesSource(bytes)))).toMatchObject({ confirmedBy: 'size' });
    const withoutEtags = createMemoryStore({ etags: 'none', keepsChecksums: false });
    expect(await uploadInParts(uploadOf(withoutEtags, bytesSource(bytes)))).toMatchObject({
      confirmedBy: 'size',
      etag: '',
    });
  });

  it('checks the MD5 of each part once a store is known to keep no checksums', async () => {
    const bytes = randomBytes(5_000);
    const quiet = createMemoryStore({ etags: 'md5', keepsChecksums: false });
    const state = { spoils: false };
    const store = withMultipart(quiet, (multipart) => ({
      // Such a store may not check a part's checksum either.
      uploadPart: (upload, number, part, options) => {
        const spoilt = part.slice();
        if (state.spoils && number === 2) spoilt[0] = (spoilt[0] ?? 0) ^ 1;
        const { checksum: _, ...rest } = options ?? {};
        return multipart.uploadPart(upload, number, spoilt, rest);
      },
      complete: (upload, parts, options) => {
        const { checksum: _, ...rest } = options ?? {};
        return multipart.complete(upload, parts, rest);
      },
    }));
    await uploadInParts(uploadOf(store, bytesSource(bytes)));
    state.spoils = true;
    await expect(uploadInParts(uploadOf(store, bytesSource(bytes)))).rejects.toMatchObject({
      code: 'damaged',
    });
  });

  it('buffers no more parts than its requests can use', async () => {
    const inner = createMemoryStore();
    let underWay = 0;
    let most = 0;
    const source = bytesSource(randomBytes(50_000));
    const counting: ObjectSource = {
      ...source,
      read: (start, into, signal) => {
        underWay += 1;
        most = Math.max(most, underWay);
        return source.read(start, into, signal);
      },
    };
    const store = withMultipart(inner, (multipart) => ({
      uploadPart: async (...call) => {
        await new Promise((resume) => setImmediate(resume));
        const part = await multipart.uploadPart(...call);
        underWay -= 1;
        return part;
      },
    }));
    await uploadInParts(uploadOf(store, counting));
    expect(most).toBeLessThanOrEqual(6);
    expect(most).toBeGreaterThan(1);
  });
});
