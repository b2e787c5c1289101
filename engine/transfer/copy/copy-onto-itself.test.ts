import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { withRetry } from '../../remotes/wrappers/with-retry.ts';
import { createJournal, faultyStore, KEY, storedBytes } from '../upload/upload.fixture.ts';
import { type CopyOntoItself, copyOntoItself } from './copy-onto-itself.ts';

const METADATA = { mtime: '6', owner: 'ada' };

async function setUp(sizeBytes: number) {
  const { faults, inner, store: faulty } = faultyStore({ etags: 'md5' });
  const bytes = randomBytes(sizeBytes);
  await inner.put(KEY, bytes, {
    contentType: 'text/csv',
    cacheControl: 'no-cache',
    storageClass: 'GLACIER_IR',
    metadata: { mtime: '5', owner: 'ada' },
  });
  const info = (await inner.head(KEY, { checksums: true }))!;
  const store = withRetry(faulty, { clock: { ...systemClock, sleep: async () => {} } });
  const request: CopyOntoItself = { store, info, metadata: METADATA, journal: createJournal() };
  return { bytes, faults, inner, request };
}

describe('copyOntoItself', () => {
  it.each([
    ['one request', undefined],
    ['parts', 4_999],
  ])('changes the metadata and keeps the rest, by %s', async (_, copyOnceBytes) => {
    const { bytes, inner, request } = await setUp(5_000);
    const more = copyOnceBytes === undefined ? {} : { copyOnceBytes };
    const outcome = await copyOntoItself({ ...request, ...more });
    const info = (await inner.head(KEY))!;
    expect(outcome).toMatchObject({ written: true, etag: info.etag });
    expect(info).toMatchObject({
      contentType: 'text/csv',
      cacheControl: 'no-cache',
      storageClass: 'GLACIER_IR',
      metadata: METADATA,
    });
    expect(info.etag.endsWith('-1')).toBe(copyOnceBytes !== undefined);
    expect(await storedBytes(inner)).toEqual(new Uint8Array(bytes));
  });

  it('repeats only the failed part of a large object', async () => {
    const { faults, request } = await setUp(5_000);
    faults.add('uploadPartCopy').errorInstead(new DrayError('slowDown', 'Slower.', { retry: 'backoff' }));
    faults.add('create').before(() => {});
    faults.add('create').errorInstead(new Error('A second upload was begun.'));
    faults.add('copy').errorInstead(new Error('A copy in one request cannot be repeated in part.'));
    expect(await copyOntoItself({ ...request, copyOnceBytes: 1_000 })).toMatchObject({ written: true });
    expect(() => faults.verifyAllExercised()).toThrow('Faults not met: create (1 left), copy (1 left).');
  });

  it.each([
    ['one request', undefined],
    ['parts', 4_999],
  ])('never changes an object that was replaced meanwhile, by %s', async (_, copyOnceBytes) => {
    const { inner, request } = await setUp(5_000);
    await inner.put(KEY, randomBytes(5_000));
    const more = copyOnceBytes === undefined ? {} : { copyOnceBytes };
    await expect(copyOntoItself({ ...request, ...more })).rejects.toMatchObject({ code: 'conflict' });
    expect((await inner.multipart!.listUploads({ prefix: '' })).uploads).toEqual([]);
  });
});
