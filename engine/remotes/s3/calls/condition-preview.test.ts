import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type S3Server, startVersitygw } from '../../../../e2e/servers/versitygw.ts';
import { openS3Store } from '../open-s3-store.ts';

/** More than socket buffers hold, so that a store can refuse it unread. */
const LARGE = new Uint8Array(16 * 1024 * 1024);

let server: S3Server;
beforeAll(async () => {
  server = await startVersitygw();
});
afterAll(() => server?.stop());

describe('a large write under a condition', () => {
  const open = () => openS3Store({ bucket: server.bucket, prefix: '', environment: server.environment });
  const absent = { absent: true } as const;

  it('is one request when the condition holds', async () => {
    const store = await open();
    try {
      await server.resetRequests();
      expect(await store.put('new', LARGE, { condition: absent })).toMatchObject({ written: true });
      expect((await server.requests()).map(({ operation }) => operation)).toEqual(['PutObject']);
    } finally {
      await store.close();
    }
  });

  it('is reported as refused when the condition does not hold, although the store may hang up on its body', async () => {
    const store = await open();
    try {
      await store.put('old', new Uint8Array(3));
      expect(await store.put('old', LARGE, { condition: absent })).toEqual({ written: false });
      expect(await store.put('old', LARGE, { condition: { etag: 'another' } })).toEqual({ written: false });
      expect(await store.head('old')).toMatchObject({ sizeBytes: 3 });
    } finally {
      await store.close();
    }
  });
});
