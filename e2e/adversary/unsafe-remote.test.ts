/**
 * A store that accepts every conditional write, as some S3 servers do. Two writers can lose a commit there,
 * and Dray warns about it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { remoteTestTarget } from '../../engine/jobs/remotes/remotes.ts';
import {
  createSandbox,
  eventsOf,
  type TestContext,
  testContext,
} from '../../engine/jobs/session/job.fixture.ts';

let server: Server;
let url: string;
const objects = new Map<string, Buffer>();

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  url = `s3://bucket/careless?endpoint=http://127.0.0.1:${port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The part of S3 that a push needs, without support for If-Match and If-None-Match. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  if (request.method === 'PUT') objects.set(pathname, Buffer.concat(pieces));
  if (request.method === 'DELETE') objects.delete(pathname);
  if (searchParams.has('list-type')) {
    response.setHeader('content-type', 'application/xml');
    response.end(listing(`${pathname.replace(/\/$/, '')}/`, searchParams.get('prefix') ?? ''));
    return;
  }
  const found = objects.get(pathname);
  if (request.method === 'DELETE') response.statusCode = 204;
  else if (!found) response.statusCode = 404;
  if (!found) {
    const isSilent = request.method === 'HEAD' || request.method === 'DELETE';
    response.end(isSilent ? undefined : '<Error><Code>NoSuchKey</Code></Error>');
    return;
  }
  response.setHeader('etag', `"${createHash('md5').update(found).digest('hex')}"`);
  response.setHeader('last-modified', new Date().toUTCString());
  if (request.method === 'GET') response.end(found);
  else if (request.method === 'HEAD') response.writeHead(200, { 'content-length': found.length }).end();
  else response.end();
}

function listing(bucket: string, prefix: string): string {
  const keys = [...objects.keys()]
    .map((path) => path.slice(bucket.length))
    .filter((key) => key.startsWith(prefix));
  const contents = keys
    .sort()
    .map(
      (key) =>
        `<Contents><Key>${key}</Key><Size>1</Size><ETag>"e"</ETag><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`,
    );
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`;
}

function unsafeWarnings(context: TestContext): number {
  return eventsOf(context, 'warning').filter(({ warning }) => warning === 'unsafeForTwoWriters').length;
}

it('a remote that ignores conditions is reported as unsafe by remote test, init and push', async () => {
  using sandbox = createSandbox();
  const environment = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', DRAY_AUTHOR: 'tester' };
  const work = sandbox.path('work');
  mkdirSync(work);
  const contextAt = (folder: string) => testContext(folder, { environment });

  expect(await remoteTestTarget(contextAt(work), { target: url })).toMatchObject({
    safeForTwoWriters: false,
  });

  const init = contextAt(work);
  await initWorkspace(init, { remoteUrl: url });
  expect(unsafeWarnings(init)).toBe(1);

  sandbox.write('work/a', 'one');
  const first = contextAt(work);
  expect(await push(first, {})).toMatchObject({ result: 'pushed' });
  expect(unsafeWarnings(first)).toBe(1);

  const unchanged = contextAt(work);
  expect(await push(unchanged, {})).toMatchObject({ result: 'nothingToPush' });
  expect(unsafeWarnings(unchanged)).toBe(0);

  // A clone has not tested the remote yet. Its first push does, and warns too.
  await cloneWorkspace(contextAt(sandbox.folder), { url, directory: 'copy' });
  sandbox.write('copy/b', 'two');
  const cloned = contextAt(sandbox.path('copy'));
  expect(await push(cloned, {})).toMatchObject({ result: 'pushed' });
  expect(unsafeWarnings(cloned)).toBe(1);
});
