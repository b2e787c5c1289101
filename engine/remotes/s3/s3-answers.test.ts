/** Answers that a healthy test server does not give: both clients against a server that plays them from a script. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import type { ObjectStore } from '../object-store.ts';
import { openS3Store } from './open-s3-store.ts';

const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_CONFIG_FILE: '/nonexistent/config',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
};

describe.each(['auto', 'sdk'] as const)('An S3 store with the client "%s"', (client) => {
  let server: Server;
  let store: ObjectStore;
  let asked: string[];
  let script: (response: ServerResponse, asked: string, headers: Readonly<Record<string, unknown>>) => void;

  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      const line = `${request.method} ${request.url?.replace(/[?&]x-id=\w+/, '')}`;
      asked.push(line);
      request.resume().on('end', () => script(response, line, request.headers));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    store = await openS3Store({ bucket: 'data', prefix: 'p', endpoint, client, environment: ENVIRONMENT });
  });
  afterEach(async () => {
    await store.close();
    server.closeAllConnections();
    server.close();
  });

  const refuse = (status: number, code: string, headers = {}) => {
    script = (response) =>
      response.writeHead(status, headers).end(`<Error><Code>${code}</Code><Message>why</Message></Error>`);
  };

  it('asks for a pause on SlowDown, and says how long the server wants it', async () => {
    refuse(503, 'SlowDown', { 'retry-after': '7' });
    const error = await failure(store.put('k', new Uint8Array(1)));
    expect(error).toMatchObject({
      code: 'slowDown',
      retry: 'backoff',
      data: { retryAfterMs: 7000, key: 'p/k' },
    });
    refuse(429, 'TooManyRequests');
    expect(await failure(store.list({ prefix: '' }))).toMatchObject({ code: 'slowDown', retry: 'backoff' });
    expect(asked).toHaveLength(2);
  });

  it('calls failures of the server repeatable, and never repeats them itself', async () => {
    for (const [status, code] of [
      [500, 'InternalError'],
      [502, 'BadGateway'],
      [409, 'ConditionalRequestConflict'],
    ] as const) {
      refuse(status, code);
      const write = () => store.put('k', new Uint8Array(1), { condition: { absent: true } });
      expect(await failure(write())).toMatchObject({ code: 'remoteFailed', retry: 'retry' });
    }
    refuse(400, 'RequestTimeout');
    expect(await failure(store.put('k', new Uint8Array(1)))).toMatchObject({
      code: 'unreachable',
      retry: 'retry',
    });
    refuse(501, 'NotImplemented');
    expect(await failure(store.put('k', new Uint8Array(1)))).toMatchObject({
      code: 'unsupported',
      retry: 'no',
    });
    expect(asked).toHaveLength(5);
  });

  it('understands a proxy that answers without XML', async () => {
    script = (response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
    expect(await failure(store.read('k', { maxBytes: 10 }))).toMatchObject({
      code: 'remoteFailed',
      retry: 'retry',
    });
  });

  it('does not take a whole object for the range that it asked for', async () => {
    script = (response) => response.writeHead(200, { etag: '"e"', 'content-length': 10 }).end('0123456789');
    const range = { start: 2, end: 4 };
    expect(await failure(store.read('k', { range, maxBytes: 100 }))).toMatchObject({ code: 'unsupported' });
    expect(await failure(store.get('k', { range }))).toMatchObject({ code: 'unsupported' });
    const whole = await store.read('k', { range: { start: 0, end: 100 }, maxBytes: 100 });
    expect(whole?.bytes.byteLength).toBe(10);
  });

  it('sees the error inside a successful answer to a completed upload', async () => {
    script = (response) =>
      response.writeHead(200).end('<Error><Code>InternalError</Code><Message>late</Message></Error>');
    const complete = store.multipart!.complete({ key: 'k', uploadId: 'u' }, [
      { number: 1, etag: 'e', sizeBytes: 1 },
    ]);
    expect(await failure(complete)).toMatchObject({ code: 'remoteFailed', retry: 'retry' });
  });

  it('removes one by one where the store has no bulk delete', async () => {
    script = (response, line) => {
      if (line.startsWith('POST')) response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
      else response.writeHead(204).end();
    };
    await store.delete(['a', 'b b', 'c']);
    expect(asked.slice(1).sort()).toEqual(['DELETE /data/p/a', 'DELETE /data/p/b%20b', 'DELETE /data/p/c']);
  });

  it('names the objects that a bulk delete left', async () => {
    const left = '<Error><Key>p/b</Key><Code>AccessDenied</Code><Message>no</Message></Error>';
    script = (response) => response.writeHead(200).end(`<DeleteResult>${left}</DeleteResult>`);
    const error = await failure(store.delete(['a', 'b', 'c']));
    expect(error).toMatchObject({ code: 'accessDenied', data: { failedKeys: ['b'], failedCount: 1 } });
    expect(error.message).toContain('1 of 3');
  });

  it('signs the bytes themselves until the store is seen to verify the checksum', async () => {
    const sha256 = '4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a';
    const seen: unknown[] = [];
    let echo: Record<string, string> = {};
    script = (response, _line, headers) => {
      seen.push(headers['x-amz-content-sha256']);
      response.writeHead(200, { etag: '"e"', ...echo }).end();
    };
    const put = () => store.put('k', new Uint8Array([1]), { checksum: { sha256 } });
    await put();
    echo = { 'x-amz-checksum-sha256': 'S/USLzRFVMU73i67jNK349FgCtYxw4Wl18ziPHeFRZo=' };
    await put();
    await put();
    const afterwards = client === 'auto' ? 'UNSIGNED-PAYLOAD' : sha256;
    expect(seen).toEqual([sha256, sha256, afterwards]);
  });
});

async function failure(call: Promise<unknown>): Promise<DrayError> {
  const outcome = await call.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(DrayError);
  return outcome as DrayError;
}
