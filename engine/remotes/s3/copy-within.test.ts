import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type S3Server, startVersitygw } from '../../../e2e/servers/versitygw.ts';
import { copyInParts } from './copy-within.ts';
import type { S3Connection } from './s3-connection.ts';
import { resolvePlace } from './s3-options.ts';
import { createSdkS3Store, type SdkS3Store } from './sdk-s3-store.ts';

const MIB = 1024 * 1024;

describe('A copy in parts', () => {
  let server: S3Server;
  let store: SdkS3Store;
  beforeAll(async () => {
    server = await startVersitygw();
    const { bucket, environment } = server;
    const connection: S3Connection = {
      place: resolvePlace({ bucket, prefix: 'copies', environment }, { name: 'default', settings: {} }),
      credentials: async () => server,
      maxConnections: 4,
      clockOffsetMs: 0,
    };
    store = await createSdkS3Store(connection);
  });
  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  it('puts the parts back together', async () => {
    const bytes = new Uint8Array(12 * MIB + 5).map((_, at) => at >>> 16);
    await store.put('from', bytes);
    const what = { from: 'from', to: 'to', sizeBytes: bytes.byteLength, partBytes: 5 * MIB };
    expect(await copyInParts(store.multipart, what, {})).toMatchObject({ written: true });
    const copied = await store.read('to', { maxBytes: bytes.byteLength });
    expect(Buffer.compare(copied!.bytes, bytes)).toBe(0);
  });

  it('frees its parts when it fails', async () => {
    await server.resetRequests();
    const what = { from: 'absent', to: 'never', sizeBytes: 20 * MIB, partBytes: 5 * MIB };
    await expect(copyInParts(store.multipart, what, {})).rejects.toMatchObject({ code: 'notFound' });
    const operations = (await server.requests()).map(({ operation }) => operation);
    expect(operations).toContain('AbortMultipartUpload');
    expect(await store.head('never')).toBeUndefined();
  });
});
