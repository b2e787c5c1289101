import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { parseConnection, watchWire } from './wire-bytes.ts';

const ANSWER_BYTES = 12_345;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Answers each connection with ANSWER_BYTES when it has received everything. */
async function startServer(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.resume();
    socket.once('end', () => socket.end(Buffer.alloc(ANSWER_BYTES)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}

async function send(port: number, bytes: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.resume();
  socket.end(Buffer.alloc(bytes));
  await once(socket, 'close');
}

function hasSs(): boolean {
  try {
    execFileSync('ss', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('The watch over the wire', () => {
  it('counts bytes to and from its servers, within two a connection, and no others', async () => {
    const [one, two, other] = [await startServer(), await startServer(), await startServer()];
    await send(one, 5);
    const watch = await watchWire([one, two]);
    // Without `ss` nothing can be counted.
    if (!watch) return expect(hasSs()).toBe(false);
    await send(one, 1_000_000);
    await send(two, 2_000_000);
    await send(other, 4_000_000);
    const bytes = await watch.end();
    expect(Math.abs((bytes?.sentBytes ?? 0) - 3_000_000)).toBeLessThanOrEqual(4);
    expect(Math.abs((bytes?.receivedBytes ?? 0) - 2 * ANSWER_BYTES)).toBeLessThanOrEqual(4);
  });

  it('counts nothing without traffic', async () => {
    const port = await startServer();
    const watch = await watchWire([port]);
    expect((await watch?.end()) ?? { sentBytes: 0, receivedBytes: 0 }).toEqual({
      sentBytes: 0,
      receivedBytes: 0,
    });
  });

  it('reports nothing while a connection is open', async () => {
    const port = await startServer();
    const watch = await watchWire([port]);
    const socket = connect({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    socket.write('half of a request');
    closing.push(() => socket.destroy());
    expect((await watch?.end(1)) ?? null).toBeNull();
  });
});

describe('A line about a connection', () => {
  const line =
    'UNCONN 0      0      127.0.0.1:38343 127.0.0.1:59932 wscale:10,10 bytes_sent:12400 bytes_retrans:55 bytes_acked:12346 bytes_received:1000001 segs_out:20';

  it("gives the server's bytes without retransmissions", () => {
    expect(parseConnection(line)).toEqual({ port: 38_343, sentBytes: 1_000_001, receivedBytes: 12_345 });
  });

  it('gives zero bytes without counters', () => {
    expect(parseConnection('UNCONN 0 0 127.0.0.1:1 127.0.0.1:2 cubic')).toEqual({
      port: 1,
      sentBytes: 0,
      receivedBytes: 0,
    });
  });

  it('is ignored when it is something else', () => {
    expect(parseConnection('')).toBeUndefined();
    expect(parseConnection('\t skmem:(r0)')).toBeUndefined();
  });
});
