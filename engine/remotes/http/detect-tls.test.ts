/**
 * A URL scheme that does not match the server: how each kind of server reacts, and that the error names the
 * problem.
 */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../jobs/session/job.fixture.ts';
import { ownCertificate } from '../../peer/peer-own-certificate.ts';
import { openHttpTransport } from './http-exchange.ts';
import type { HttpTransport } from './http-transport.ts';

let sandbox: Sandbox | undefined;
let server: Server | undefined;
let transport: HttpTransport | undefined;
const sockets = new Set<Socket>();
let connections = 0;

afterEach(async () => {
  await transport?.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
  sandbox?.[Symbol.dispose]();
  sandbox = undefined;
});

async function listen(listening: Server, scheme: 'http' | 'https'): Promise<HttpTransport> {
  server = listening;
  connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  transport = await openHttpTransport(new URL(`${scheme}://127.0.0.1:${port}`), 4);
  return transport;
}

const certificate = () => {
  sandbox = createSandbox();
  return ownCertificate(sandbox.path('server'), 'there');
};
const request = { method: 'GET', path: '/', headers: {}, signal: undefined };
const ASKING = {
  exchange: (to: HttpTransport) => to.exchange(request, 1_000),
  stream: (to: HttpTransport) => to.stream(request),
};
const WANTS_TLS = expect.objectContaining({ code: 'HTTP_WANTS_TLS' });

/** Reads the first bytes as TLS does, and handles the rest as TLS if they are TLS. */
async function serverOfTls(answerPlain: (socket: Socket) => void): Promise<Server> {
  const tls = createHttpsServer(await certificate());
  return createServer((socket) => {
    socket.on('error', () => {});
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null;
      if (!first) return;
      if (first[0] !== 0x16) return answerPlain(socket);
      socket.unshift(first);
      tls.emit('connection', socket);
    });
  });
}

describe.each(Object.entries(ASKING))('A plain request ("%s") to a TLS server', (_name, ask) => {
  it('fails with HTTP_WANTS_TLS if the connection is reset, as Node does', async () => {
    const to = await listen(createHttpsServer(await certificate()), 'http');
    await expect(ask(to)).rejects.toEqual(WANTS_TLS);
    await expect(ask(to)).rejects.toEqual(WANTS_TLS);
    // Two requests, and one handshake.
    expect(connections).toBe(3);
  });

  it.each([
    [
      'refused in text, as Go does',
      'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
    ],
    [
      'refused in HTML, as nginx does',
      'HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>',
    ],
    ['answered by a TLS alert', '\x15\x03\x01\x00\x02\x02\x46'],
    ['closed silently', ''],
  ])('fails with HTTP_WANTS_TLS if it is %s', async (_how, answer) => {
    const to = await listen(await serverOfTls((socket) => socket.end(answer, 'latin1')), 'http');
    await expect(ask(to)).rejects.toEqual(WANTS_TLS);
  });
});

describe('A plain request to a plain server', () => {
  it('that resets it fails with the reset, and the server gets one TLS handshake', async () => {
    const to = await listen(
      createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.resetAndDestroy());
      }),
      'http',
    );
    for (let count = 0; count < 3; count += 1)
      await expect(to.exchange(request, 1_000)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(connections).toBe(3 + 1);
  });

  it.each(['application/xml', 'application/json'])(
    'that answers 400 in %s is believed, without a handshake',
    async (type) => {
      const to = await listen(
        createHttpServer((_, response) => response.writeHead(400, { 'content-type': type }).end('x')),
        'http',
      );
      expect((await to.exchange(request, 1_000)).status).toBe(400);
      expect(connections).toBe(1);
    },
  );

  it('that has answered once gets no handshake when it resets a later one', async () => {
    let isFirst = true;
    const to = await listen(
      createHttpServer((_, response) => {
        if (isFirst) response.end('x');
        else response.socket!.resetAndDestroy();
        isFirst = false;
      }),
      'http',
    );
    await to.exchange(request, 1_000);
    const post = { ...request, method: 'POST' };
    await expect(to.exchange(post, 1_000)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(connections).toBe(1);
  });
});

it('A request over TLS to a plain server fails with HTTP_NO_TLS', async () => {
  const to = await listen(
    createHttpServer((_, response) => response.end('x')),
    'https',
  );
  await expect(to.exchange(request, 1_000)).rejects.toMatchObject({ code: 'HTTP_NO_TLS' });
});
