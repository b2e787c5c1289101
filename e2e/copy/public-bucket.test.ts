/** A public bucket, read with `--anonymous`. */
import { readFileSync } from 'node:fs';
import { PutBucketPolicyCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

let server: S3Server;
let sandbox: Sandbox;
beforeAll(async () => {
  server = await startVersitygw();
  sandbox = createSandbox();
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await server?.stop();
});

/** Lets everybody read the bucket. */
async function publish({ accessKeyId, bucket, endpoint, region, secretAccessKey }: S3Server): Promise<void> {
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  const arn = `arn:aws:s3:::${bucket}`;
  const statement = {
    Effect: 'Allow',
    Principal: '*',
    Action: ['s3:GetObject', 's3:ListBucket'],
    Resource: [arn, `${arn}/*`],
  };
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
  client.destroy();
}

describe('A public bucket', () => {
  it('can be cloned and copied from without keys, and refuses everything else', async () => {
    const { bucket, environment } = server;
    const { AWS_ACCESS_KEY_ID: _, AWS_SECRET_ACCESS_KEY: __, ...withoutKeys } = environment;
    const url = `s3://${bucket}/birds`;
    const owner = () => testContext(sandbox.path('birds'), { environment });
    const reader = (folder = sandbox.folder) =>
      testContext(folder, {
        environment: { ...withoutKeys, DRAY_CACHE: sandbox.path('cache') },
        connection: { anonymous: true },
      });
    const clone = () => cloneWorkspace(reader(), { url, directory: 'clone' });

    sandbox.write('birds/owl', 'hoo');
    await initWorkspace(owner(), { remoteUrl: url });
    await push(owner(), {});
    await expect(clone()).rejects.toMatchObject({ code: 'accessDenied' });

    await publish(server);
    expect(await clone()).toMatchObject({ result: 'pulled', changes: { added: 1 } });
    expect(readFileSync(sandbox.path('clone/owl'), 'utf8')).toBe('hoo');
    // The workspace remembers that it is anonymous.
    const later = testContext(sandbox.path('clone'), { environment: withoutKeys });
    expect(await pull(later, {})).toMatchObject({ result: 'upToDate' });
    sandbox.write('clone/mine', 'not theirs');
    await expect(push(later, {})).rejects.toMatchObject({ code: 'accessDenied' });

    const source = { place: `s3://${bucket}/birds/` };
    const copied = await copyTree(reader(), { source, destination: { place: 'objects' } });
    expect(copied).toMatchObject({ result: 'copied', failed: 0 });
    expect(readFileSync(sandbox.path('objects/dray.json'), 'utf8')).toContain('sha256');
  });
});
