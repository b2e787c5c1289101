/**
 * Tests the transport against servers that are written byte by byte: what is sent, what is repeated, and what
 * ends a connection.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { openHttpTransport } from './http-exchange.ts';
import type { HttpRequest } from './http-message.ts';
import type { HttpTransport } from './http-transport.ts';

const MIB = 1024 * 1024;
const EMPTY_ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

type Respond = (request: string, socket: Socket, connection: number) => void;

const open: { transport: HttpTransport; server: Server; sockets: Set<Socket> }[] = [];
afterEach(async () => {
  for (const { transport, server, sockets } of open.splice(0)) {
    await transport.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

interface Setting {
  readonly connections?: number;
  readonly quietMs?: number;
  readonly connectMs?: number;
  readonly secure?: boolean;
  readonly certificate?: string;
  /** The highest TLS version of the server. Absent: the latest. */
  readonly maxVersion?: 'TLSv1.2';
  readonly checkFingerprint?: (fingerprint: string) => Error | undefined;
  readonly authorities?: string;
  readonly origin?: (port: number) => string;
  readonly onBody?: (body: Buffer, socket: Socket) => void;
}

/**
 * Calls `respond` for each request head as soon as it is there, with the number of its connection (from 1).
 */
async function serve(respond: Respond, setting: Setting = {}) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket) => {
    connections += 1;
    const number = connections;
    sockets.add(socket);
    let text = '';
    let bodyBytes: number | undefined;
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      for (;;) {
        if (bodyBytes === undefined) {
          const end = text.indexOf('\r\n\r\n');
          if (end < 0) return;
          const head = text.slice(0, end);
          text = text.slice(end + 4);
          bodyBytes = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
          respond(head, socket, number);
        }
        if (text.length < bodyBytes) return;
        if (bodyBytes > 0) setting.onBody?.(Buffer.from(text.slice(0, bodyBytes), 'latin1'), socket);
        text = text.slice(bodyBytes);
        bodyBytes = undefined;
      }
    });
  };
  const server = setting.secure
    ? createTlsServer(
        {
          key: TEST_KEY,
          cert: setting.certificate ?? TEST_CERTIFICATE,
          ...(setting.maxVersion ? { maxVersion: setting.maxVersion } : {}),
        },
        onConnection,
      )
    : createServer(onConnection);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = setting.origin?.(port) ?? `${setting.secure ? 'https' : 'http'}://localhost:${port}`;
  const transport = await openHttpTransport(new URL(origin), setting.connections ?? 1, {
    limits: { connectMs: setting.connectMs ?? 10_000, quietMs: setting.quietMs ?? 60_000 },
    checkFingerprint: setting.checkFingerprint,
    authorities: setting.authorities,
  });
  open.push({ transport, server, sockets });
  return { transport, sockets, connections: () => connections };
}

function ask(method = 'GET', more: Partial<HttpRequest> = {}): HttpRequest {
  return { method, path: '/x', headers: {}, signal: undefined, ...more };
}

describe('A request', () => {
  it('is written with its host, its headers and the length of its body', async () => {
    const heads: string[] = [];
    const { transport } = await serve((head, socket) => {
      heads.push(head);
      socket.write(EMPTY_ANSWER);
    });
    await transport.exchange(ask('GET', { headers: { range: 'bytes=0-1' } }), 0);
    await transport.exchange(
      ask('PUT', { headers: { host: 'bucket.example' }, body: Buffer.from('abc') }),
      0,
    );
    await transport.exchange(ask('POST'), 0);
    expect(heads[0]).toMatch(/^GET \/x HTTP\/1\.1\r\nhost: localhost:\d+\r\nrange: bytes=0-1$/);
    expect(heads[1]).toBe('PUT /x HTTP/1.1\r\nhost: bucket.example\r\ncontent-length: 3');
    expect(heads[2]).toMatch(/content-length: 0$/);
  });

  it('that would smuggle in a header is refused, and costs no connection', async () => {
    const { transport, connections } = await serve((_head, socket) => socket.write(EMPTY_ANSWER));
    await transport.exchange(ask(), 0);
    for (const more of [
      { headers: { 'x-amz-meta-a': 'b\r\nx-evil: 1' } },
      { headers: { 'x-a: b\r\nx-evil': '1' } },
      { path: '/x HTTP/1.1\r\nx-evil: 1' },
      { path: '/a b' },
    ])
      await expect(transport.exchange(ask('GET', more), 0)).rejects.toBeInstanceOf(TypeError);
    await transport.exchange(ask(), 0);
    expect(connections()).toBe(1);
  });

  it('waits its turn when all connections are busy', async () => {
    const order: string[] = [];
    const held: Socket[] = [];
    const { transport, connections } = await serve((head, socket) => {
      order.push(head.slice(4, 6));
      if (held.length === 0 && order.length === 1) held.push(socket);
      else socket.write(EMPTY_ANSWER);
    });
    const all = ['/a', '/b', '/c', '/d'].map((path) => transport.exchange(ask('GET', { path }), 0));
    while (held.length === 0) await tick();
    held[0]?.write(EMPTY_ANSWER);
    await Promise.all(all);
    expect(order).toEqual(['/a', '/b', '/c', '/d']);
    expect(connections()).toBe(1);
  });
});

describe('A kept connection that the server closed', () => {
  /** The first connection answers once, and is closed when the next request arrives. */
  const closing: Respond = (head, socket, connection) => {
    if (connection > 1 || head.includes('/first')) socket.write(EMPTY_ANSWER);
    else socket.destroy();
  };
  const first = ask('GET', { path: '/first' });

  it.each([
    ['GET', ask()],
    ['a conditional GET', ask('GET', { headers: { 'if-match': '"a"' } })],
    ['PUT', ask('PUT', { body: new Uint8Array(3 * MIB) })],
    ['DELETE', ask('DELETE')],
  ])('costs %s only a new connection', async (_name, request) => {
    const { transport, connections } = await serve(closing);
    await transport.exchange(first, 0);
    expect(await transport.exchange(request, 0)).toMatchObject({ status: 200 });
    expect(connections()).toBe(2);
  });

  it.each([
    ['a PUT under a condition', ask('PUT', { headers: { 'if-none-match': '*' }, body: Buffer.from('x') })],
    ['a copy of one state', ask('PUT', { headers: { 'x-amz-copy-source-if-match': '"a"' } })],
    ['a POST', ask('POST')],
  ])('fails %s, which may have been carried out', async (_name, request) => {
    const { transport, connections } = await serve(closing);
    await transport.exchange(first, 0);
    await expect(transport.exchange(request, 0)).rejects.toMatchObject({ code: /^(ECONNRESET|EPIPE)$/ });
    expect(connections()).toBe(1);
  });

  it('is retried only once, and a new one not at all', async () => {
    const { transport, connections } = await serve((head, socket) => {
      if (head.includes('/first')) socket.write(EMPTY_ANSWER);
      else socket.destroy();
    });
    await transport.exchange(first, 0);
    await expect(transport.exchange(ask(), 0)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(connections()).toBe(2);
    await expect(transport.exchange(ask(), 0)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(connections()).toBe(3);
  });

  it('is not retried when part of an answer arrived', async () => {
    const { transport, connections } = await serve((head, socket) => {
      if (head.includes('/first')) socket.write(EMPTY_ANSWER);
      else socket.end('HTTP/1.1 200 OK\r\ncontent-le');
    });
    await transport.exchange(first, 0);
    await expect(transport.exchange(ask(), 0)).rejects.toMatchObject({ code: 'HTTP_CUT_SHORT' });
    expect(connections()).toBe(1);
  });

  it('makes room for waiting requests', async () => {
    const { transport } = await serve((head, socket) => {
      if (head.includes('/bad')) socket.destroy();
      else socket.write(EMPTY_ANSWER);
    });
    await transport.exchange(ask(), 0);
    const outcomes = await Promise.allSettled(
      ['/bad1', '/ok', '/bad2', '/ok'].map((path) => transport.exchange(ask('POST', { path }), 0)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('A connection is closed', () => {
  it.each([
    ['when the server says so', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'],
    ['when bytes follow the answer', `${EMPTY_ANSWER}more`],
    ['by servers of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ])('%s', async (_name, answer) => {
    const { transport, connections } = await serve((_head, socket) => socket.write(answer));
    await transport.exchange(ask(), 0);
    await transport.exchange(ask(), 0);
    expect(connections()).toBe(2);
  });

  it('after an answer that ends with the connection', async () => {
    const { transport, connections } = await serve((_head, socket) =>
      socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'),
    );
    for (let run = 1; run <= 2; run += 1) {
      const { bytes } = await transport.exchange(ask(), 9);
      expect(Buffer.from(bytes).toString()).toBe('all of it');
      expect(connections()).toBe(run);
    }
  });

  it('when a refusal arrives before the body was sent', async () => {
    let taken = 0;
    const { transport, sockets } = await serve((_head, socket) => {
      socket.pause();
      taken = socket.bytesRead;
      socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
    });
    const body = new Uint8Array(64 * MIB);
    const answer = await transport.exchange(ask('PUT', { body }), 10);
    expect(answer.status).toBe(403);
    expect(Buffer.from(answer.bytes).toString()).toBe('no');
    expect(taken).toBeLessThan(body.length);
    for (const socket of sockets) socket.resume();
    while (sockets.size > 0) await tick();
  });

  it('when a request on it is stopped at any moment', async () => {
    const { transport } = await serve((head, socket) => {
      if (head.includes('/stop')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc');
      else socket.write(EMPTY_ANSWER);
    });
    for (let turns = 0; turns < 30; turns += 1) {
      const control = new AbortController();
      const request = ask('PUT', { path: '/stop', body: new Uint8Array(MIB), signal: control.signal });
      const stopped = transport.exchange(request, 100);
      const outcome = expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      control.abort();
      await outcome;
      expect(await transport.exchange(ask(), 0)).toMatchObject({ status: 200 });
    }
  });

  it('and running and waiting requests fail at once when the transport is closed', async () => {
    const { connections, transport } = await serve(() => {});
    const outcomes = [1, 2, 3].map(() => expect(transport.exchange(ask(), 0)).rejects.toThrow('closed'));
    while (connections() === 0) await tick();
    await transport.close();
    await Promise.all(outcomes);
    expect(connections()).toBe(1);
    await expect(transport.exchange(ask(), 0)).rejects.toThrow('closed');
  });
});

describe('Time runs out', () => {
  it('when no answer comes, and when an answer stops', async () => {
    const { transport } = await serve(
      (head, socket) => {
        if (head.includes('/half')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc');
      },
      { quietMs: 100 },
    );
    await expect(transport.exchange(ask(), 9)).rejects.toMatchObject({ code: 'HTTP_ANSWER_TIMEOUT' });
    const half = ask('GET', { path: '/half' });
    await expect(transport.exchange(half, 9)).rejects.toMatchObject({ code: 'HTTP_BODY_TIMEOUT' });
  });

  it('later for a request that the server may work on for long, and as usual for the next one', async () => {
    const { transport } = await serve(
      (head, socket) => {
        if (!head.includes('/work')) return;
        const [first, rest] = [EMPTY_ANSWER.slice(0, 20), EMPTY_ANSWER.slice(20)];
        setTimeout(() => socket.write(first), 400);
        setTimeout(() => socket.write(rest), 800);
      },
      { quietMs: 100 },
    );
    const work = ask('PUT', { path: '/work', quietMs: 3_600_000 });
    expect(await transport.exchange(work, 0)).toMatchObject({ status: 200 });
    await expect(transport.exchange(ask(), 0)).rejects.toMatchObject({
      code: 'HTTP_ANSWER_TIMEOUT',
      message: expect.stringContaining('100 ms'),
    });
  });

  it('when a connection is not completed', async () => {
    // A server that accepts, and never answers the TLS handshake.
    const { transport } = await serve(() => {}, {
      connectMs: 100,
      origin: (port) => `https://localhost:${port}`,
    });
    await expect(transport.exchange(ask(), 0)).rejects.toMatchObject({ code: 'HTTP_CONNECT_TIMEOUT' });
  });

  it('never for a slow reader', async () => {
    const size = 16 * MIB;
    const { transport } = await serve(
      (_head, socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
        socket.write(new Uint8Array(size));
      },
      { quietMs: 1000 },
    );
    const { body } = await transport.stream(ask());
    let readBytes = 0;
    let pauses = 0;
    for await (const chunk of body) {
      readBytes += chunk.byteLength;
      // Once the queue is full and the sender paused.
      if (pauses < 1 && readBytes > 2 * MIB) {
        pauses += 1;
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
    }
    expect(readBytes).toBe(size);
  });
});

describe('Over TLS', () => {
  const trust = () => setDefaultCACertificates([...getCACertificates('default'), TEST_CERTIFICATE]);
  const distrust = getCACertificates('default');
  afterEach(() => setDefaultCACertificates(distrust));

  it('a certificate without a trusted signer is refused', async () => {
    const { transport } = await serve((_head, socket) => socket.write(EMPTY_ANSWER), { secure: true });
    await expect(transport.exchange(ask(), 0)).rejects.toMatchObject({
      code: /SELF_SIGNED|UNABLE_TO_VERIFY/,
    });
  });

  it('given authorities replace the default ones', async () => {
    const answer: Respond = (_head, socket) => socket.write(EMPTY_ANSWER);
    const known = await serve(answer, { secure: true, authorities: TEST_CERTIFICATE });
    expect(await known.transport.exchange(ask(), 0)).toMatchObject({ status: 200 });
    trust();
    const unknown = await serve(answer, { secure: true, authorities: CERTIFICATE_OF_ANOTHER });
    await expect(unknown.transport.exchange(ask(), 0)).rejects.toMatchObject({
      code: /SELF_SIGNED|UNABLE_TO_VERIFY/,
    });
  });

  it('a certificate for another name is refused', async () => {
    setDefaultCACertificates([CERTIFICATE_OF_ANOTHER]);
    const { transport } = await serve((_head, socket) => socket.write(EMPTY_ANSWER), {
      secure: true,
      certificate: CERTIFICATE_OF_ANOTHER,
    });
    await expect(transport.exchange(ask(), 0)).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  it.each([undefined, 'TLSv1.2'] as const)(
    'a refused server is refused again, whatever session it gave (%s)',
    async (maxVersion) => {
      const version = maxVersion ? { maxVersion } : {};
      const heads: string[] = [];
      const answer: Respond = (head, socket) => {
        heads.push(head);
        socket.write(EMPTY_ANSWER);
      };
      const known = await serve(answer, {
        ...version,
        secure: true,
        checkFingerprint: () => new Error('another one than before'),
      });
      setDefaultCACertificates([CERTIFICATE_OF_ANOTHER]);
      const named = await serve(answer, { ...version, secure: true, certificate: CERTIFICATE_OF_ANOTHER });
      for (let run = 0; run < 4; run += 1) {
        await expect(known.transport.exchange(ask(), 0)).rejects.toThrow('another one than before');
        await expect(named.transport.exchange(ask(), 0)).rejects.toMatchObject({
          code: 'ERR_TLS_CERT_ALTNAME_INVALID',
        });
      }
      expect(heads).toEqual([]);
    },
  );

  it('a failed check of the certificate is reported to the caller', async () => {
    const { transport } = await serve((_head, socket) => socket.write(EMPTY_ANSWER), {
      secure: true,
      checkFingerprint: () => {
        throw new Error('the list is damaged');
      },
    });
    await expect(transport.exchange(ask(), 0)).rejects.toThrow('the list is damaged');
  });

  it('bodies in both directions arrive unchanged, in the given memory', async () => {
    trust();
    const size = 5 * MIB + 11;
    const content = Buffer.alloc(size, 'some content that has no period of a record. ');
    const received: Buffer[] = [];
    const { transport, connections } = await serve(
      (head, socket) => {
        if (!head.startsWith('GET')) return;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
        socket.write(content);
      },
      {
        secure: true,
        onBody: (body, socket) => {
          received.push(body);
          socket.write(EMPTY_ANSWER);
        },
      },
    );
    const into = new Uint8Array(new SharedArrayBuffer(size));
    const { bytes } = await transport.exchange(ask('GET', { into }), size);
    expect(bytes.buffer).toBe(into.buffer);
    expect(content.equals(bytes)).toBe(true);
    const { body } = await transport.stream(ask());
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    expect(content.equals(Buffer.concat(chunks))).toBe(true);
    await transport.exchange(ask('PUT', { body: content }), 0);
    expect(connections()).toBe(1);
    expect(received[0]?.equals(content)).toBe(true);
  });

  it.each([undefined, 'TLSv1.2'] as const)(
    'a later connection resumes the session of an earlier one (%s)',
    async (maxVersion) => {
      trust();
      const reused: boolean[] = [];
      const { transport } = await serve(
        (_head, socket) => {
          reused.push((socket as TLSSocket).isSessionReused());
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
        },
        { secure: true, ...(maxVersion ? { maxVersion } : {}) },
      );
      for (let run = 0; run < 3; run += 1) await transport.exchange(ask(), 0);
      expect(reused[0]).toBe(false);
      expect(reused[2]).toBe(true);
    },
  );
});

const tick = () => new Promise((resolve) => setTimeout(resolve, 2));

/** Only for this test; for "localhost" and 127.0.0.1, valid from 2020 to 2120. */
const TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvkvxGV1l7iXx9/b9
22wUxDW1NZbbCsN+Ms3pCHGJKWyhRANCAAQENAnIFVGVRnetSn0Jn/SFOj9rrrk/
lf9rXHDY3bB+vNBXuCSLT30deLpq14zu8xMTI4Anl6fHo3zLqUGwEAvB
-----END PRIVATE KEY-----`;
const TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBZjCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlkcmF5LXRl
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWRyYXktdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAQ0CcgVUZVGd61K
fQmf9IU6P2uuuT+V/2tccNjdsH680Fe4JItPfR14umrXjO7zExMjgCeXp8ejfMup
QbAQC8GjTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0
hwR/AAABMB0GA1UdDgQWBBRxdRtzWCzU/QbnW6I/4FhA5kxPXDAKBggqhkjOPQQD
AgNHADBEAiAuq6gDBCv+Fb75WFPN+EnIulDNExhizuLyvgxkGdfb/gIgB+tWvrrd
1WekKjvclB44Z2DugUDC4j02YSZGsH1tVRY=
-----END CERTIFICATE-----`;
const CERTIFICATE_OF_ANOTHER = `-----BEGIN CERTIFICATE-----
MIIBaTCCAQ+gAwIBAgIBAjAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlkcmF5LXRl
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWRyYXktdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAQ0CcgVUZVGd61K
fQmf9IU6P2uuuT+V/2tccNjdsH680Fe4JItPfR14umrXjO7zExMjgCeXp8ejfMup
QbAQC8GjUDBOMA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4IRZWxzZXdoZXJl
LmV4YW1wbGUwHQYDVR0OBBYEFHF1G3NYLNT9Budboj/gWEDmTE9cMAoGCCqGSM49
BAMCA0gAMEUCIGh4BBsmNWwpRLTwwczEHj/PvIgZLhR+H5vwLX80GHwlAiEA7FTe
OZ1iop9LaM/xRQOq4C9apYbzazLEVedtranIL/4=
-----END CERTIFICATE-----`;
