/**
 * The round trips that a copy waits for before it transfers the first file. The server's access log lists
 * requests in the order of their answers, so every entry before the first PUT or GET of an object was waited
 * for.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

let server: S3Server;
let sandbox: Sandbox;
beforeAll(async () => {
  server = await startVersitygw();
  sandbox = createSandbox();
  for (let at = 0; at < 40; at += 1) sandbox.write(`tree/${at}`, `content ${at}`);
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await server?.stop();
});

const FILES = new Set(['PutObject', 'GetObject', 'CopyObject']);

/** The operations answered before the first file's. */
async function operationsBefore(source: string, destination: string): Promise<readonly string[]> {
  const environment = { ...server.environment, DRAY_CACHE: sandbox.path(`cache-${destination}`) };
  const context = testContext(sandbox.folder, { environment });
  await server.resetRequests();
  const request = { source: { place: source }, destination: { place: destination } };
  expect(await copyTree(context, request)).toMatchObject({ copiedFiles: 40, failed: 0 });
  const operations = (await server.requests()).map(({ operation }) => operation);
  const first = operations.findIndex((operation) => FILES.has(operation));
  expect(operations.filter((operation) => FILES.has(operation))).toHaveLength(40);
  return operations.slice(0, first);
}

/** Asked together: whether the bucket or the folder is a repository. */
const IS_REPOSITORY = ['HeadObject', 'HeadObject'];
const url = (prefix: string) => `s3://${server.bucket}/${prefix}`;

describe('Before it transfers the first file,', () => {
  it('a copy to a store waits for one page of its listing, and once for what lies above', async () => {
    expect(await operationsBefore('tree', url('up/'))).toEqual(['ListObjectsV2', ...IS_REPOSITORY]);
  });

  it('a copy from a store waits for one page, and for a HEAD if the name may be an object', async () => {
    await operationsBefore('tree', url('down/'));
    expect(await operationsBefore(url('down/'), sandbox.path('folder'))).toEqual(['ListObjectsV2']);
    expect(await operationsBefore(url('down'), sandbox.path('unsure'))).toEqual([
      'HeadObject',
      'ListObjectsV2',
    ]);
  });

  it('a copy within a store waits for one page of each side, and once for what lies above', async () => {
    await operationsBefore('tree', url('from/'));
    const pages = ['ListObjectsV2', 'ListObjectsV2'];
    expect(await operationsBefore(url('from/'), url('to/'))).toEqual([...pages, ...IS_REPOSITORY]);
  });
});
