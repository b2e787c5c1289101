import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { keptDescription } from '../../remotes/kept-description.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { uploadInParts } from '../upload/multipart-upload.ts';
import {
  bytesSource,
  createJournal,
  faultyStore,
  KEY,
  storedBytes,
  uploadOf,
  withMultipart,
} from '../upload/upload.fixture.ts';
import { copyInStore, type StoreCopy } from './copy-in-store.ts';
import { copyInParts, type PartsCopy } from './copy-parts.ts';

const TO = 'copy.bin';
const gone = () => new DrayError('unreachable', 'Gone.', { retry: 'retry' });

async function copyOf(store: ObjectStore, more: Partial<StoreCopy> = {}): Promise<StoreCopy> {
  return { from: store, fromKey: KEY, to: store, toKey: TO, info: (await store.head(KEY))!, ...more };
}

/** The same store, which records the HEADs of the copy. */
function watched(store: ObjectStore): { readonly store: ObjectStore; readonly heads: string[] } {
  const heads: string[] = [];
  const head: ObjectStore['head'] = (key, options) => {
    heads.push(key);
    return store.head(key, options);
  };
  return { store: { ...store, head }, heads };
}

describe('copyInStore', () => {
  it('copies in one request when the answer confirms it, and returns the result', async () => {
    const inner = createMemoryStore({ etags: 'md5' });
    const bytes = randomBytes(3_000);
    await inner.put(KEY, bytes, { metadata: { mtime: '5' }, contentType: 'text/plain' });
    const request = await copyOf(inner);
    const { heads, store } = watched(inner);
    const copied = await copyInStore({ ...request, from: store, to: store });
    expect(copied?.etag).toBe(request.info.etag);
    expect(heads).toEqual([]);
    expect(await storedBytes(inner, TO)).toEqual(new Uint8Array(bytes));
    expect(await inner.head(TO)).toMatchObject({ metadata: { mtime: '5' }, contentType: 'text/plain' });
  });

  it('sends a HEAD for a copy with another etag, such as an object in parts', async () => {
    const inner = createMemoryStore({ etags: 'md5' });
    await uploadInParts(uploadOf(inner, bytesSource(randomBytes(3_000))));
    const request = await copyOf(inner, { info: (await inner.head(KEY, { checksums: true }))! });
    const { heads, store } = watched(inner);
    const copied = await copyInStore({ ...request, to: store });
    expect(heads).toEqual([TO]);
    expect(copied?.etag).toBe((await inner.head(TO))?.etag);
  });

  it('sets another description and storage class', async () => {
    const store = createMemoryStore();
    await store.put(KEY, randomBytes(10), { metadata: { mtime: '5', owner: 'ada' } });
    const description = { metadata: { mtime: '6' } };
    await copyInStore(await copyOf(store, { description, storageClass: 'GLACIER_IR' }));
    expect(await store.head(TO)).toMatchObject({ metadata: { mtime: '6' }, storageClass: 'GLACIER_IR' });
  });

  it.each([
    ['another size', { sizeBytes: 9 }],
    ['another checksum', { checksums: { covers: 'whole', crc64nvme: 1n } }],
  ] as const)('never accepts a copy that has %s', async (_, lie) => {
    const store = createMemoryStore();
    await store.put(KEY, randomBytes(10));
    const info = (await store.head(KEY, { checksums: true }))!;
    const lying = { ...store, head: async () => ({ ...info, ...lie }) };
    await expect(copyInStore({ ...(await copyOf(store, { info })), to: lying })).rejects.toMatchObject({
      code: 'damaged',
    });
  });

  it.each([
    ['accessDenied', 'no'],
    ['unsupported', 'no'],
    ['remoteFailed', 'no'],
  ] as const)('asks the caller to transfer the bytes when the store answers %s', async (code, retry) => {
    const { faults, store } = faultyStore();
    await store.put(KEY, randomBytes(10));
    faults.add('copy').errorInstead(new DrayError(code, 'No.', { retry }));
    expect(await copyInStore(await copyOf(store))).toBeUndefined();
    faults.verifyAllExercised();
  });

  it('fails only for an archived object, since the store copies others', async () => {
    const { faults, store } = faultyStore();
    await store.put(KEY, randomBytes(10));
    const archived = new DrayError('accessDenied', 'No.', { data: { reason: 'archived' } });
    faults.add('copy').errorInstead(archived);
    faults.add('uploadPartCopy').errorInstead(archived);
    await expect(copyInStore(await copyOf(store))).rejects.toBe(archived);
    await expect(copyInStore(await copyOf(store, { copyOnceBytes: 9 }))).rejects.toBe(archived);
    faults.verifyAllExercised();
  });

  it('reports that the source changed or was deleted', async () => {
    const store = createMemoryStore();
    await store.put(KEY, randomBytes(10));
    const request = await copyOf(store);
    await store.put(KEY, randomBytes(10));
    await expect(copyInStore(request)).rejects.toMatchObject({
      code: 'io',
      data: { reason: 'changedWhileRead' },
    });
    await store.delete([KEY]);
    await expect(copyInStore(request)).rejects.toMatchObject({ code: 'io', data: { reason: 'vanished' } });
  });

  it('passes on temporary errors', async () => {
    const { faults, store } = faultyStore();
    await store.put(KEY, randomBytes(10));
    faults.add('copy').errorInstead(gone());
    await expect(copyInStore(await copyOf(store))).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('copies an object too large for one request in parts, with its description', async () => {
    const store = createMemoryStore({ etags: 'md5' });
    const bytes = randomBytes(5_000);
    await store.put(KEY, bytes, { metadata: { mtime: '5' }, cacheControl: 'no-cache' });
    const copied = await copyInStore(await copyOf(store, { copyOnceBytes: 4_999 }));
    expect(copied?.etag).toMatch(/-1$/);
    expect(await storedBytes(store, TO)).toEqual(new Uint8Array(bytes));
    expect(await store.head(TO)).toMatchObject({ metadata: { mtime: '5' }, cacheControl: 'no-cache' });
  });
});

describe('copyInParts', () => {
  async function partsCopy(store: ObjectStore, more: Partial<PartsCopy> = {}): Promise<PartsCopy> {
    return { ...(await copyOf(store)), source: KEY, partSizeBytes: 1_000, ...more };
  }

  it('resumes after a crash with the copied parts', async () => {
    const inner = createMemoryStore({ etags: 'md5' });
    const bytes = randomBytes(20_500);
    await inner.put(KEY, bytes);
    const copied: number[] = [];
    const state = { fails: true };
    const store = withMultipart(inner, (multipart) => ({
      uploadPartCopy: async (upload, number, source, options) => {
        if (state.fails && number > 12) throw gone();
        const part = await multipart.uploadPartCopy(upload, number, source, options);
        copied.push(number);
        return part;
      },
    }));
    const journal = createJournal();
    await expect(copyInParts(await partsCopy(store, { journal }))).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(copied.length).toBeGreaterThan(3);
    state.fails = false;
    expect(await copyInParts(await partsCopy(store, { journal }))).toMatchObject({ written: true });
    expect(copied.toSorted((left, right) => left - right)).toEqual(
      Array.from({ length: 21 }, (_, at) => at + 1),
    );
    expect(await storedBytes(inner, TO)).toEqual(new Uint8Array(bytes));
    expect(journal.rows.size).toBe(0);
  });

  it('starts again when an earlier attempt sent the bytes under a checksum', async () => {
    const { faults, inner, store } = faultyStore();
    const bytes = randomBytes(5_000);
    await store.put(KEY, bytes);
    const journal = createJournal();
    const info = (await store.head(KEY))!;
    faults
      .add('uploadPart')
      .errorInstead(gone())
      .when(({ arguments: [, number] }) => number === 3);
    const sent = uploadOf(store, bytesSource(bytes, info.etag), {
      key: TO,
      journal,
      description: keptDescription(info),
    });
    await expect(uploadInParts(sent)).rejects.toMatchObject({ code: 'unreachable' });
    const [begun] = [...journal.rows.values()];
    let used: string | undefined;
    const watching = withMultipart(inner, (multipart) => ({
      uploadPartCopy: (upload, number, source, options) => {
        used = upload.uploadId;
        return multipart.uploadPartCopy(upload, number, source, options);
      },
    }));
    expect(await copyInParts(await partsCopy(watching, { journal }))).toMatchObject({ written: true });
    expect(used).toBeDefined();
    expect(used).not.toBe(begun!.uploadId);
    expect((await inner.multipart?.listUploads({ prefix: '' }))?.uploads).toEqual([]);
    expect(await storedBytes(inner, TO)).toEqual(new Uint8Array(bytes));
  });

  it('leaves nothing behind when it cannot resume: refused, or without a journal', async () => {
    for (const [journal, error] of [
      [createJournal(), new DrayError('unsupported', 'No.')],
      [undefined, gone()],
    ] as const) {
      const { faults, inner, store } = faultyStore();
      await store.put(KEY, randomBytes(5_000));
      faults.add('uploadPartCopy').errorInstead(error).repeat(5);
      await expect(copyInParts(await partsCopy(store, journal ? { journal } : {}))).rejects.toThrow();
      expect((await inner.multipart?.listUploads({ prefix: '' }))?.uploads).toEqual([]);
      expect(journal?.rows.size ?? 0).toBe(0);
    }
  });

  it('stops on request, and keeps copied parts for the next time', async () => {
    const inner = createMemoryStore({ etags: 'md5' });
    await inner.put(KEY, randomBytes(20_000));
    const stop = new AbortController();
    const store = withMultipart(inner, (multipart) => ({
      uploadPartCopy: (upload, number, source, options) => {
        if (number === 6) stop.abort();
        return multipart.uploadPartCopy(upload, number, source, options);
      },
    }));
    const journal = createJournal();
    await expect(copyInParts(await partsCopy(store, { journal, signal: stop.signal }))).rejects.toMatchObject(
      {
        code: 'aborted',
      },
    );
    expect(journal.rows.size).toBe(1);
    expect(await inner.head(TO)).toBeUndefined();
  });
});
