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

/** Answers each connection with so many bytes when it has heard all. */
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

describe('the watch over the wire', () => {
  it('counts what goes to its servers and back, but for a byte or two a connection, and nothing of others', async () => {
    const [one, two, other] = [await startServer(), await startServer(), await startServer()];
    await send(one, 5);
    const watch = await watchWire([one, two]);
    // Where there is no `ss`, nothing is told.
    if (!watch) return expect(hasSs()).toBe(false);
    await send(one, 1_000_000);
    await send(two, 2_000_000);
    await send(other, 4_000_000);
    const bytes = await watch.end();
    expect(Math.abs((bytes?.sentBytes ?? 0) - 3_000_000)).toBeLessThanOrEqual(4);
    expect(Math.abs((bytes?.receivedBytes ?? 0) - 2 * ANSWER_BYTES)).toBeLessThanOrEqual(4);
  });

  it('counts nothing where nothing happens', async () => {
    const port = await startServer();
    const watch = await watchWire([port]);
    expect((await watch?.end()) ?? { sentBytes: 0, receivedBytes: 0 }).toEqual({
      sentBytes: 0,
      receivedBytes: 0,
    });
  });

  it('says nothing while a connection goes on', async () => {
    const port = await startServer();
    const watch = await watchWire([port]);
    const socket = connect({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    socket.write('half of a request');
    closing.push(() => socket.destroy());
    expect((await watch?.end(1)) ?? null).toBeNull();
  });
});

describe('a line about a connection', () => {
  const line =
    'UNCONN 0      0      127.0.0.1:38343 127.0.0.1:59932 wscale:10,10 bytes_sent:12400 bytes_retrans:55 bytes_acked:12346 bytes_received:1000001 segs_out:20';

  it("tells of the server's end, without what was sent twice", () => {
    expect(parseConnection(line)).toEqual({ port: 38_343, sentBytes: 1_000_001, receivedBytes: 12_345 });
  });

  it('tells of a connection without counters that nothing went over it', () => {
    expect(parseConnection('UNCONN 0 0 127.0.0.1:1 127.0.0.1:2 cubic')).toEqual({
      port: 1,
      sentBytes: 0,
      receivedBytes: 0,
    });
  });

  it('that is none is passed over', () => {
    expect(parseConnection('')).toBeUndefined();
    expect(parseConnection('\t skmem:(r0)')).toBeUndefined();
  });
});
