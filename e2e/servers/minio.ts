/**
 * MinIO as a second S3 server: behaviour that it shares with versitygw is less likely to be one server's
 * quirk. `npm run test:long` alone uses it: Go builds it for minutes.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { roomyFolder } from './memory-folder.ts';
import { createS3Environment } from './s3-environment.ts';
import { freePort, startProcess, toolPath, waitUntilReady } from './tools.ts';
import { createBucketAt, type S3Endpoint, type ServerOptions } from './versitygw.ts';

const BUCKET = 'dray-test';
const REGION = 'us-east-1';

export async function startMinio(options: ServerOptions = {}): Promise<S3Endpoint> {
  const path = await toolPath('minio');
  const home = await mkdtemp(join(await roomyFolder(), 'dray-minio-'));
  const dataFolder = options.dataFolder ?? join(home, 'data');
  await mkdir(dataFolder, { recursive: true });
  const address = `127.0.0.1:${await freePort()}`;
  const endpoint = `http://${address}`;
  const accessKeyId = 'dray-test-access';
  const secretAccessKey = options.secretAccessKey ?? randomBytes(16).toString('hex');
  const console = `127.0.0.1:${await freePort()}`;
  const running = startProcess(
    path,
    ['server', '--quiet', '--address', address, '--console-address', console, dataFolder],
    {
      PATH: process.env.PATH,
      HOME: home,
      MINIO_ROOT_USER: accessKeyId,
      MINIO_ROOT_PASSWORD: secretAccessKey,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
      // MinIO otherwise demands a separate drive, which a RAM disk or a container's root is not.
      MINIO_CI_CD: 'on',
    },
  );
  const environment = createS3Environment({ endpoint, region: REGION, accessKeyId, secretAccessKey, home });
  const stop = async () => {
    await running.stop();
    await rm(home, { recursive: true, force: true });
  };
  const createBucket = (bucket: string) => createBucketAt({ bucket, environment });
  try {
    await waitUntilReady(running, async () => {
      if (!(await fetch(`${endpoint}/minio/health/ready`)).ok) return false;
      // On a busy machine MinIO reports itself ready and still refuses requests
      // (`XMinioServerNotInitialized`) for a moment.
      await createBucket(BUCKET);
      return true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    endpoint,
    accessKeyId,
    secretAccessKey,
    region: REGION,
    bucket: BUCKET,
    environment,
    dataFolder,
    processId: running.processId,
    createBucket,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
