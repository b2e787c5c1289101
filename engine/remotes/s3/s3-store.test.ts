/** The S3 store against real servers of two makes, of which `npm test` takes one. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { startMinio } from '../../../e2e/servers/minio.ts';
import { type S3Endpoint, startVersitygw } from '../../../e2e/servers/versitygw.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { MINIO, type StoreAbilities, VERSITYGW } from '../contract/abilities.fixture.ts';
import { describeObjectStoreContract } from '../contract/suite.fixture.ts';
import { openS3Store } from './open-s3-store.ts';

function describeOn(name: string, start: () => Promise<S3Endpoint>, abilities: StoreAbilities): void {
  describe(name, () => {
    let server: S3Endpoint;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(async () => {
      await server?.stop();
    });

    const open = async () => {
      const { bucket, environment } = server;
      const store = await openS3Store({ bucket, prefix: `under/${randomUUID()}`, environment });
      return { store, close: () => store.close() };
    };
    describeObjectStoreContract('the S3 store', open, abilities);
  });
}

describeOn('S3 by versitygw', startVersitygw, VERSITYGW);
if (runBudget({ short: false, long: true })) describeOn('S3 by MinIO', startMinio, MINIO);
