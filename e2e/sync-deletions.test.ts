/** What a sync must not delete: what its source has and was not told of, and what is at the destination by another name than it seems. */
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SyncRequest } from '../engine/api/trees.ts';
import { syncTree } from '../engine/jobs/copy-tree.ts';
import { createSandbox, type Sandbox, testContext } from '../engine/jobs/job-fixture.ts';
import { type FakeS3, startFakeS3 } from './servers/fake-s3.ts';

let store: FakeS3;
let sandbox: Sandbox;
beforeEach(async () => {
  store = await startFakeS3();
  sandbox = createSandbox();
});
afterEach(async () => {
  sandbox[Symbol.dispose]();
  await store[Symbol.asyncDispose]();
});

const sync = (request: Partial<SyncRequest> = {}) =>
  syncTree(
    testContext(sandbox.folder, {
      environment: { ...store.environment, DRAY_CACHE: sandbox.path('cache') },
    }),
    {
      source: { place: `s3://${store.bucket}/tree` },
      destination: { place: 'to' },
      maxDelete: { percent: 100 },
      ...request,
    },
  );
const files = () => readdirSync(sandbox.path('to')).sort();

describe('A sync from a store', () => {
  it.each([
    ['a page of somebody else, as a proxy may give it', '<html><body>Please sign in</body></html>'],
    [
      'an error that comes as a success',
      '<?xml version="1.0"?><Error><Code>InternalError</Code><Message>Again</Message></Error>',
    ],
    ['a list that was cut short', '<ListBucketResult><Contents><Key>tree/n00000</Key></Contents>'],
    ['a list that goes on nowhere', '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'],
  ])('takes for no list %s', async (_what, document) => {
    for (let at = 0; at < 1_005; at += 1) {
      const name = `n${String(at).padStart(5, '0')}`;
      store.objects.set(`tree/${name}`, Buffer.from('x'));
      sandbox.write(`to/${name}`, 'x');
    }
    let isGiven = false;
    store.fault = ({ query }) => {
      if (isGiven || !query.has('continuation-token')) return undefined;
      isGiven = true;
      return { document };
    };
    expect(await sync({ compare: 'sizeOnly' })).toMatchObject({ deletedFiles: 0, unchangedFiles: 1_005 });
    expect(isGiven).toBe(true);
    expect(files()).toHaveLength(1_005);
  });
});
