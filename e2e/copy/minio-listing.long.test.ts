/**
 * MinIO ends a listing with `start-after` too early where a folder's name continues with a character below
 * `/`. Dray must not take the unlisted objects for missing: a copy would send them again, and a sync would
 * not delete them.
 */
import { writeFileSync } from 'node:fs';
import { createServer, request as requestFrom, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { startMinio } from '../servers/minio.ts';
import type { S3Endpoint } from '../servers/versitygw.ts';

/** More objects than MinIO reads for one page. */
const FILES = 1_050;
const FOLDERS = ['a', 'a-b', 'a.c'] as const;

let sandbox: Sandbox;
let server: S3Endpoint;
beforeAll(async () => {
  sandbox = createSandbox();
  server = await startMinio();
  for (const folder of FOLDERS) {
    sandbox.path('tree', folder, 'x');
    for (let at = 0; at < FILES; at += 1)
      writeFileSync(sandbox.path('tree', folder, String(10_000 + at)), `${folder} ${at}`);
  }
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await server?.stop();
});

/** A proxy that puts its own name into each answer, as most do. */
async function startProxy(target: URL): Promise<Server> {
  const proxy = createServer((request, response) => {
    const { headers, method, url } = request;
    const onward = requestFrom(
      { host: target.hostname, port: target.port, headers, method, path: url },
      (answer) => {
        response.writeHead(answer.statusCode!, { ...answer.headers, server: 'nginx' });
        answer.pipe(response);
      },
    );
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return proxy;
}

it('a copy and a sync that start listing in the middle of a tree at MinIO see all of it', async () => {
  const run = (cache: string) =>
    testContext(sandbox.folder, {
      environment: { ...server.environment, DRAY_CACHE: sandbox.path(cache) },
    });
  const request = {
    source: { place: sandbox.path('tree') },
    destination: { place: `s3://${server.bucket}/tree/` },
  };
  const files = FILES * FOLDERS.length;
  expect(await copyTree(run('first'), request)).toMatchObject({ copiedFiles: files, failed: 0 });
  for (const cache of ['first', 'other']) {
    const none = { result: 'upToDate', unchangedFiles: files, copiedFiles: 0 };
    expect(await copyTree(run(cache), request)).toMatchObject(none);
    expect(await syncTree(run(cache), request)).toMatchObject({ ...none, deletedFiles: 0 });
  }
  // Selects only the last folder in listing order, so the copy starts its listing there.
  const filter = {
    rules: [
      { action: 'include', pattern: '/a/**' },
      { action: 'exclude', pattern: '**' },
    ],
  } as const;
  expect(await copyTree(run('third'), { ...request, filter })).toMatchObject({
    unchangedFiles: FILES,
    copiedFiles: 0,
  });
  const proxy = await startProxy(new URL(server.endpoint));
  try {
    const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const destination = { ...request.destination, connection: { endpoint } };
    expect(await copyTree(run('proxy'), { ...request, destination, filter, dryRun: true })).toMatchObject({
      unchangedFiles: FILES,
      copiedFiles: 0,
    });
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
  const empty = sandbox.path('empty', 'one');
  writeFileSync(empty, 'one');
  const emptied = { ...request, source: { place: sandbox.path('empty') }, maxDelete: { percent: 100 } };
  expect(await syncTree(run('fourth'), emptied)).toMatchObject({ copiedFiles: 1, deletedFiles: files });
});
