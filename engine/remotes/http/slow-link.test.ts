/** Uploads whose answers are late because their bodies, which the kernel took at once, still travel. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openHttpTransport } from './http-exchange.ts';
import type { HttpTransport } from './http-transport.ts';

const MIB = 1024 * 1024;
const UPLOADS = 8;

let close: () => Promise<void>;
afterEach(() => close());

async function serve(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
  slowestBytesPerSecond: number,
): Promise<HttpTransport> {
  const server = createServer(respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const transport = await openHttpTransport(origin, UPLOADS + 1, {
    limits: { quietMs: 100, slowestBytesPerSecond },
  });
  close = async () => {
    await transport.close();
    server.closeAllConnections();
    server.close();
  };
  return transport;
}

const get = { method: 'GET', path: '/silent', headers: {}, signal: undefined };
const put = { ...get, method: 'PUT', path: '/late', body: new Uint8Array(MIB) };

describe('An upload over a slow link', () => {
  it('is not sent again while its body may still travel: one PUT for each', async () => {
    const taken: ServerResponse[] = [];
    const all = Promise.withResolvers<void>();
    const transport = await serve((request, response) => {
      if (request.method !== 'PUT') return;
      request.resume().on('end', () => {
        taken.push(response);
        if (taken.length === UPLOADS) all.resolve();
      });
    }, 1);
    const answers = Promise.all(Array.from({ length: UPLOADS }, () => transport.exchange(put, 0)));
    await all.promise;
    // Two quiet times pass, as the requests without a body show.
    for (let time = 0; time < 2; time += 1)
      await expect(transport.exchange(get, 0)).rejects.toMatchObject({ code: 'HTTP_ANSWER_TIMEOUT' });
    for (const response of taken) response.end();
    expect((await answers).map(({ status }) => status)).toEqual(Array.from({ length: UPLOADS }, () => 200));
    expect(taken).toHaveLength(UPLOADS);
  });

  it('is given up when the time for its body is over too', async () => {
    const transport = await serve((request) => request.resume(), 10 * MIB);
    await expect(transport.exchange(put, 0)).rejects.toMatchObject({
      code: 'HTTP_ANSWER_TIMEOUT',
      message: 'Nothing arrived for 200 ms.',
    });
  });

  it('is given up after the usual time when its answer stops', async () => {
    const transport = await serve((request, response) => {
      request.resume().on('end', () => response.writeHead(200, { 'content-length': 9 }).write('abc'));
    }, 1);
    await expect(transport.exchange(put, 9)).rejects.toMatchObject({
      code: 'HTTP_BODY_TIMEOUT',
      message: 'Nothing arrived for 100 ms.',
    });
  });
});
