/** Tests the transport against a plain HTTP server that misbehaves on purpose. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHttpTransport } from './http-exchange.ts';
import { AnswerTooLarge } from './http-message.ts';
import type { HttpTransport } from './http-transport.ts';

const MIB = 1024 * 1024;

describe('The HTTP transport', () => {
  let server: Server;
  let transport: HttpTransport;
  let connections = 0;
  let wireBytes: number[] = [];
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    connections = 0;
    wireBytes = [];
    server = createServer((request, response) => respond(request, response));
    server.on('connection', () => {
      connections += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    transport = await openHttpTransport(
      new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      2,
      { onWire: (bytes) => wireBytes.push(bytes) },
    );
  });
  afterEach(async () => {
    await transport.close();
    server.closeAllConnections();
    server.close();
  });
  const request = (method: string, more: object = {}) => ({
    method,
    path: '/x?y=1',
    headers: {},
    signal: undefined,
    ...more,
  });

  it('keeps its connections through all methods, including HEAD', async () => {
    respond = (incoming, response) =>
      incoming.resume().on('end', () => response.writeHead(200, { 'content-length': 3 }).end('abc'));
    for (const method of ['HEAD', 'GET', 'HEAD', 'HEAD', 'GET']) {
      const answer = await transport.exchange(request(method), 10);
      expect(answer.bytes.byteLength).toBe(method === 'HEAD' ? 0 : 3);
    }
    await transport.exchange(request('PUT', { body: new Uint8Array(3 * MIB) }), 10);
    // The pool's limit. Closing one after each HEAD would take five.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('fills the given memory, or its own if an answer does not fit', async () => {
    respond = (_, response) => {
      response.writeHead(200, { 'content-length': 5 });
      response.end('abcde');
    };
    for (const [givenBytes, isGiven] of [
      [5, true],
      [9, true],
      [4, false],
    ] as const) {
      const into = new Uint8Array(new SharedArrayBuffer(givenBytes));
      const { bytes } = await transport.exchange(request('GET', { into }), 10);
      expect(Buffer.from(bytes).toString()).toBe('abcde');
      expect(bytes.buffer === into.buffer).toBe(isGiven);
    }
  });

  it('reports bytes as they travel, both ways, and of a large body before all of it was sent', async () => {
    respond = (incoming, response) => {
      // Its first bytes are here and reported, while the rest is held back.
      incoming.once('data', () => {
        incoming.pause();
        void expect
          .poll(() => wireBytes.length)
          .toBeGreaterThan(0)
          .then(() => incoming.resume());
      });
      incoming.on('end', () => response.writeHead(200, { 'content-length': 5 }).end('abcde'));
    };
    await transport.exchange(request('PUT', { body: new Uint8Array(24 * MIB) }), 10);
    expect(wireBytes[0]).toBeLessThanOrEqual(MIB);
    const sum = wireBytes.reduce((total, bytes) => total + bytes, 0);
    expect(sum).toBeGreaterThanOrEqual(24 * MIB + 5);
    expect(sum).toBeLessThan(24 * MIB + 1024);
  });

  it('does not touch the given memory after it was stopped', async () => {
    const controller = new AbortController();
    const into = new Uint8Array(2 * MIB);
    respond = (_, response) => {
      response.writeHead(200, { 'content-length': into.length });
      response.write(new Uint8Array(MIB).fill(1), () => controller.abort());
      setImmediate(() => response.end(new Uint8Array(MIB).fill(2)));
    };
    const exchange = transport.exchange(request('GET', { into, signal: controller.signal }), into.length);
    await expect(exchange).rejects.toMatchObject({ name: 'AbortError' });
    into.fill(0);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(into.every((byte) => byte === 0)).toBe(true);
  });

  it('sends small and large bodies with their length', async () => {
    respond = async (incoming, response) => {
      let sizeBytes = 0;
      for await (const chunk of incoming) sizeBytes += chunk.length;
      response.end(
        `${incoming.headers['content-length']} ${sizeBytes} ${incoming.headers['transfer-encoding']}`,
      );
    };
    for (const size of [0, 1, MIB - 1, MIB, 5 * MIB + 7]) {
      const { bytes } = await transport.exchange(request('PUT', { body: new Uint8Array(size) }), 100);
      expect(new TextDecoder().decode(bytes)).toBe(`${size} ${size} undefined`);
    }
  });

  it('collects an answer of unannounced length, and refuses one that grows too large', async () => {
    respond = (_request, response) => {
      for (let sent = 0; sent < 40; sent += 1) response.write(Buffer.alloc(1000, sent));
      response.end();
    };
    const { bytes } = await transport.exchange(request('GET'), 40_000);
    expect(bytes.byteLength).toBe(40_000);
    expect(bytes[39_999]).toBe(39);
    await expect(transport.exchange(request('GET'), 39_999)).rejects.toBeInstanceOf(AnswerTooLarge);
  });

  it('refuses an announced answer before it is sent', async () => {
    respond = (_request, response) => response.writeHead(200, { 'content-length': 1e12 }).flushHeaders();
    await expect(transport.exchange(request('GET'), 1000)).rejects.toMatchObject({ sizeBytes: 1e12 });
  });

  it('fails an answer that ends early, whole or streamed', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('abc', () => response.destroy());
    };
    await expect(transport.exchange(request('GET'), 1000)).rejects.toThrow();
    const { body } = await transport.stream(request('GET'));
    const drain = async () => {
      for await (const chunk of body) expect(chunk.byteLength).toBe(3);
    };
    await expect(drain()).rejects.toThrow();
  });

  it('pauses the sender while nobody reads', async () => {
    let sentBytes = 0;
    respond = async (_request, response) => {
      response.setMaxListeners(0).on('error', () => {});
      for (let sent = 0; sent < 64 && !response.destroyed; sent += 1) {
        if (!response.write(Buffer.alloc(MIB)))
          await Promise.race([once(response, 'drain'), once(response, 'close')]);
        sentBytes += MIB;
      }
      response.end();
    };
    const { body } = await transport.stream(request('GET'));
    // Until the sender has come to rest: the socket's buffers on both sides hold a few MiB.
    for (let last = -1; last !== sentBytes; ) {
      last = sentBytes;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(sentBytes).toBeLessThan(32 * MIB);
    let readBytes = 0;
    for await (const chunk of body) readBytes += chunk.byteLength;
    expect(readBytes).toBe(64 * MIB);
  });

  it('stops a request that still waits for a connection', async () => {
    const held: ServerResponse[] = [];
    respond = (_request, response) => held.push(response);
    const busy = [1, 2].map(() => transport.exchange(request('GET'), 10));
    const control = new AbortController();
    const waiting = transport.exchange(request('GET', { signal: control.signal }), 10);
    control.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    while (held.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const response of held) response.end('done');
    await Promise.all(busy);
    expect(held).toHaveLength(2);
  });
});
