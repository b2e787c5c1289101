/** Tests bodies in lent memory, from a plain HTTP server that sends as the test says. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BodyMemory } from '../object-store.ts';
import { openHttpTransport } from './http-exchange.ts';
import type { HttpTransport } from './http-transport.ts';

const PIECE_BYTES = 100_000;
const content = new Uint8Array(randomBytes(1_234_567));

let server: Server;
let transport: HttpTransport;
let respond: (response: ServerResponse) => void;
beforeEach(async () => {
  server = createServer((_, response) => respond(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  transport = await openHttpTransport(new URL(`http://127.0.0.1:${port}`), 1);
});
afterEach(async () => {
  await transport.close();
  server.closeAllConnections();
  server.close();
});

interface Lender extends BodyMemory {
  readonly buffer: SharedArrayBuffer;
  readonly free: Uint8Array[];
}

function lend(pieces: number): Lender {
  const buffer = new SharedArrayBuffer(pieces * PIECE_BYTES);
  const pieceAt = (offset: number) => new Uint8Array(buffer, offset, PIECE_BYTES);
  const free = Array.from({ length: pieces }, (_, at) => pieceAt(at * PIECE_BYTES));
  let waiting: (() => void) | undefined;
  return {
    buffer,
    free,
    take: () => free.pop(),
    onRoom: (listener) => {
      waiting = listener;
    },
    giveBack(bytes) {
      if (bytes.buffer === buffer) free.push(pieceAt(bytes.byteOffset));
      const listener = waiting;
      waiting = undefined;
      listener?.();
    },
  };
}

const get = (memory: BodyMemory) =>
  transport.stream({ method: 'GET', path: '/x', headers: {}, signal: undefined, memory });

/** A copy of the received bytes; the memory is given back piece by piece. */
async function collect(body: AsyncIterable<Uint8Array>, memory: Lender, arrived: Uint8Array[] = []) {
  for await (const piece of body) {
    arrived.push(piece.slice());
    // The next bytes are here before there is room for them.
    await new Promise(setImmediate);
    memory.giveBack(piece);
  }
  return arrived;
}

describe('A body into lent memory', () => {
  it.each([1, 2, 20])(
    'arrives in order through %d pieces, each filled before it is passed on',
    async (pieces) => {
      respond = (response) => {
        response.writeHead(200, { 'content-length': content.length });
        response.end(content);
      };
      const memory = lend(pieces);
      const { body } = await get(memory);
      const arrived = await collect(body, memory);
      expect(new Uint8Array(Buffer.concat(arrived))).toEqual(content);
      expect(memory.free).toHaveLength(pieces);
      if (pieces === 20) expect(arrived).toHaveLength(Math.ceil(content.length / PIECE_BYTES));
    },
  );

  it.each(['chunked', 'until the connection ends'])(
    'arrives when its length is unknown (%s)',
    async (how) => {
      respond = (response) => {
        if (how !== 'chunked') response.useChunkedEncodingByDefault = false;
        for (let at = 0; at < content.length; at += 77_777) response.write(content.subarray(at, at + 77_777));
        response.end();
      };
      const memory = lend(3);
      const { body } = await get(memory);
      expect(new Uint8Array(Buffer.concat(await collect(body, memory)))).toEqual(content);
      expect(memory.free).toHaveLength(3);
    },
  );

  it('that breaks is passed on as far as it arrived, and all memory comes back', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-length': content.length });
      response.write(content.subarray(0, 250_001), () => response.destroy());
    };
    const memory = lend(4);
    const { body } = await get(memory);
    const arrived: Uint8Array[] = [];
    await expect(collect(body, memory, arrived)).rejects.toThrow();
    expect(new Uint8Array(Buffer.concat(arrived))).toEqual(content.subarray(0, 250_001));
    expect(memory.free).toHaveLength(4);
  });

  it('that breaks before it begins gives no piece, and all memory comes back', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-length': content.length });
      response.flushHeaders();
      setImmediate(() => response.destroy());
    };
    const memory = lend(2);
    const { body } = await get(memory);
    const arrived: Uint8Array[] = [];
    await expect(collect(body, memory, arrived)).rejects.toThrow();
    expect(arrived).toEqual([]);
    expect(memory.free).toHaveLength(2);
  });

  it('is not used for the text of an error', async () => {
    respond = (response) => response.writeHead(503).end('Slow down.');
    const memory = lend(1);
    const { body } = await get(memory);
    const arrived = [];
    for await (const piece of body) arrived.push(piece);
    expect(Buffer.concat(arrived).toString()).toBe('Slow down.');
    expect(memory.free).toHaveLength(1);
  });

  it('is not used after it was dropped', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-length': content.length });
      response.end(content);
    };
    const memory = lend(2);
    const { body } = await get(memory);
    for await (const _ of body) break;
    const bytes = new Uint8Array(memory.buffer);
    bytes.fill(0);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(bytes.every((byte) => byte === 0)).toBe(true);
  });
});
