import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type S3Server, startVersitygw } from '../../../../e2e/servers/versitygw.ts';
import type { CopyOptions, MultipartStore, ObjectInfo, ObjectStore } from '../../object-store.ts';
import { openS3Store } from '../open-s3-store.ts';
import { resolvePlace } from '../s3-options.ts';
import { type Copier, copyInS3Parts, copyWithin } from './copy-within.ts';

const MIB = 1024 * 1024;

describe('A copy in parts', () => {
  let server: S3Server;
  let store: ObjectStore;
  beforeAll(async () => {
    server = await startVersitygw();
    const { bucket, environment } = server;
    store = await openS3Store({ bucket, prefix: 'copies', environment });
  });
  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  it('puts the parts back together', async () => {
    const bytes = new Uint8Array(12 * MIB + 5).map((_, at) => at >>> 16);
    await store.put('from', bytes);
    const what = { from: 'from', to: 'to', sizeBytes: bytes.byteLength, partBytes: 5 * MIB };
    expect(await copyInS3Parts(store.multipart!, what, {})).toMatchObject({ written: true });
    const copied = await store.read('to', { maxBytes: bytes.byteLength });
    expect(Buffer.compare(copied!.bytes, bytes)).toBe(0);
  });

  it('frees its parts when it fails', async () => {
    await server.resetRequests();
    const what = { from: 'absent', to: 'never', sizeBytes: 20 * MIB, partBytes: 5 * MIB };
    await expect(copyInS3Parts(store.multipart!, what, {})).rejects.toMatchObject({ code: 'notFound' });
    const operations = (await server.requests()).map(({ operation }) => operation);
    expect(operations).toContain('AbortMultipartUpload');
    expect(await store.head('never')).toBeUndefined();
  });
});

const GIB = 1024 ** 3;

describe('A copy inside the store', () => {
  const place = resolvePlace({ bucket: 'data', prefix: '', environment: {} }, { name: 'd', settings: {} });
  const source: ObjectInfo = {
    key: 'from',
    sizeBytes: 12 * GIB,
    etag: 'source',
    modifiedMs: 0,
    contentType: 'text/plain',
    metadata: { mtime: '1.5' },
    storageClass: 'GLACIER',
  };
  const failed = (status: number, code: string) => ({
    failure: { status, code, message: '', remoteTimeMs: undefined, signedTimeMs: 0 },
  });

  function setUp(attempt: Awaited<ReturnType<Copier['copyOnce']>>, info: ObjectInfo | undefined = source) {
    const calls: string[] = [];
    const created: unknown[] = [];
    const copied: unknown[] = [];
    const multipart: MultipartStore = {
      create: async (_key, options) => {
        calls.push('create');
        created.push(options);
        return 'u';
      },
      uploadPartCopy: async (_upload, number, part) => {
        calls.push('part');
        copied.push(part);
        return { number, etag: `p${number}`, sizeBytes: part.range!.end - part.range!.start };
      },
      complete: async (_upload, parts, options) => {
        calls.push('complete');
        const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
        expect(sizeBytes).toBe(source.sizeBytes);
        return options?.condition ? { written: false } : { written: true, etag: 'joined' };
      },
      abort: async () => void calls.push('abort'),
      uploadPart: () => Promise.reject(new Error('Nothing is sent.')),
      listParts: async () => [],
      listUploads: async () => ({ uploads: [] }),
    };
    const copier: Copier = {
      place,
      multipart,
      copyOnce: async () => {
        calls.push('copy');
        return attempt;
      },
      headSource: async () => {
        calls.push('head');
        return info;
      },
    };
    const what = { from: 'from', to: 'to', fullSource: { bucket: 'data', key: 'from' } };
    const copy = (options: CopyOptions = {}) => copyWithin(copier, what, options);
    return { copy, calls, created, copied };
  }

  it('above 5 GiB goes in parts that are pinned to the source, and keeps what describes it', async () => {
    const { copy, calls, created, copied } = setUp(failed(500, 'NotAsked'));
    expect(await copy({ sizeBytes: 12 * GIB, storageClass: 'STANDARD_IA' })).toEqual({
      written: true,
      etag: 'joined',
    });
    expect(calls).toEqual(['head', 'create', ...Array<string>(24).fill('part'), 'complete']);
    expect(created).toEqual([
      { contentType: 'text/plain', metadata: { mtime: '1.5' }, storageClass: 'STANDARD_IA' },
    ]);
    expect(copied[1]).toEqual({ key: 'from', range: { start: GIB / 2, end: GIB }, ifMatch: 'source' });
  });

  it('learns from the refusal that an object of unknown size is above 5 GiB', async () => {
    const { copy, calls } = setUp(failed(400, 'InvalidRequest'));
    expect(await copy({ description: { contentType: 'a/b' } })).toMatchObject({ written: true });
    expect(calls.slice(0, 4)).toEqual(['copy', 'head', 'head', 'create']);
    const small = setUp(failed(400, 'InvalidRequest'), { ...source, sizeBytes: 5 });
    await expect(small.copy()).rejects.toMatchObject({ code: 'remoteFailed' });
    expect(small.calls).toEqual(['copy', 'head']);
  });

  it('frees the parts when the condition does not hold at the end', async () => {
    const { copy, calls } = setUp(failed(500, 'NotAsked'));
    expect(await copy({ sizeBytes: 12 * GIB, condition: { absent: true } })).toEqual({ written: false });
    expect(calls.slice(-2)).toEqual(['complete', 'abort']);
  });

  it('distinguishes a source that changed from a condition that does not hold', async () => {
    const refused = failed(412, 'PreconditionFailed');
    const condition = { absent: true } as const;
    const held = setUp(refused);
    expect(await held.copy({ ifMatch: 'source', condition })).toEqual({ written: false });
    expect(held.calls).toEqual(['copy', 'head']);
    const changed = setUp(refused);
    await expect(changed.copy({ ifMatch: 'other', condition })).rejects.toMatchObject({ code: 'conflict' });
    const alone = setUp(refused);
    expect(await alone.copy({ condition })).toEqual({ written: false });
    const pinned = setUp(refused);
    await expect(pinned.copy({ ifMatch: 'source' })).rejects.toMatchObject({ code: 'conflict' });
    expect([...alone.calls, ...pinned.calls]).toEqual(['copy', 'copy']);
  });

  it('reports an absent source as absent, also under a condition', async () => {
    const { copy } = setUp(failed(404, 'NoSuchKey'));
    await expect(copy({ condition: { etag: 'e' } })).rejects.toMatchObject({ code: 'notFound' });
  });
});
