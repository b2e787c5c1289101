/** Both S3 clients against a real server. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { type S3Server, startVersitygw } from '../../../e2e/servers/versitygw.ts';
import { describeObjectStoreContract } from '../contract-suite.ts';
import { openS3Store } from './open-s3-store.ts';

describe('S3', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startVersitygw();
  });
  afterAll(async () => {
    await server?.stop();
  });

  for (const client of ['auto', 'sdk'] as const) {
    describeObjectStoreContract(client === 'auto' ? 'the lean client' : 'the SDK client', async () => {
      const { bucket, environment } = server;
      const store = await openS3Store({ bucket, prefix: `under/${randomUUID()}`, client, environment });
      return { store, close: () => store.close() };
    });
  }
});
