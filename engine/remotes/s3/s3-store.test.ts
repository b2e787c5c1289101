/** Both S3 clients against a real server, and the lean one against a second server of another make. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { startMinio } from '../../../e2e/servers/minio.ts';
import { type S3Endpoint, startVersitygw } from '../../../e2e/servers/versitygw.ts';
import { MINIO, type StoreAbilities, VERSITYGW } from '../contract/abilities.ts';
import { describeObjectStoreContract } from '../contract/suite.ts';
import { openS3Store } from './open-s3-store.ts';

function describeOn(
  name: string,
  start: () => Promise<S3Endpoint>,
  { clients, abilities }: { clients: readonly ('auto' | 'sdk')[]; abilities: StoreAbilities },
): void {
  describe(name, () => {
    let server: S3Endpoint;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(async () => {
      await server?.stop();
    });

    for (const client of clients) {
      const open = async () => {
        const { bucket, environment } = server;
        const store = await openS3Store({ bucket, prefix: `under/${randomUUID()}`, client, environment });
        return { store, close: () => store.close() };
      };
      describeObjectStoreContract(client === 'auto' ? 'the lean client' : 'the SDK client', open, abilities);
    }
  });
}

describeOn('S3', startVersitygw, { clients: ['auto', 'sdk'], abilities: VERSITYGW });
describeOn('S3 by MinIO', startMinio, { clients: ['auto'], abilities: MINIO });
