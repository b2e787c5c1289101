/** Google's answers and those of others, played by a server that all names lead to. */
import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openS3Store } from './open-s3-store.ts';

const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_CONFIG_FILE: '/nonexistent/config',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
};

async function openAt(host: string) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    if (request.url?.endsWith('/absent')) {
      response.writeHead(404, { 'content-encoding': 'gzip' });
      response.end(gzipSync('<Error><Code>NoSuchKey</Code><Message>No.</Message></Error>'));
      return;
    }
    const headers = { etag: '"e"', 'x-goog-stored-content-length': '3' };
    // As of an answer that is unpacked on its way: no length.
    request.resume().on('end', () => response.writeHead(200, headers).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const here = [{ address: '127.0.0.1', family: 4 }];
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((...given: unknown[]) => {
    (given.at(-1) as (error: null, found: typeof here) => void)(null, here);
  }) as typeof dns.lookup);
  const store = await openS3Store({
    bucket: 'data',
    prefix: '',
    endpoint: `http://${host}:${(server.address() as AddressInfo).port}`,
    environment: ENVIRONMENT,
  });
  onTestFinished(async () => {
    lookup.mockRestore();
    await store.close();
    server.closeAllConnections();
    server.close();
  });
  return { seen, store };
}

it.each(['storage.googleapis.com', 'storage.me-central2.rep.googleapis.com'])(
  'requests to Google name the stored form of objects, unsigned: %s',
  async (host) => {
    const { seen, store } = await openAt(host);
    expect(await store.head('k')).toMatchObject({ sizeBytes: 3 });
    await store.read('k', { maxBytes: 3 });
    await store.put('k', new Uint8Array(3));
    const accepted = seen.map(({ method, headers }) => [method, headers['accept-encoding']]);
    expect(accepted).toEqual([
      ['HEAD', 'gzip'],
      ['GET', 'gzip'],
      ['PUT', undefined],
    ]);
    for (const { headers } of seen) expect(headers.authorization).not.toContain('accept-encoding');
  },
);

it('The other servers are not asked that way, since some of them would then pack unpacked objects', async () => {
  const { seen, store } = await openAt('storage.example.com');
  await store.head('k');
  await store.read('k', { maxBytes: 3 });
  expect(seen.map(({ headers }) => headers['accept-encoding'])).toEqual([undefined, undefined]);
});

it('A packed error is unpacked and read', async () => {
  const { store } = await openAt('storage.googleapis.com');
  expect(await store.read('absent', { maxBytes: 3 })).toBeUndefined();
});
