import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runPlan, writePlan } from './puts.ts';

const OK = 'HTTP/1.1 200 OK\r\nETag: "x"\r\nContent-Length: 0\r\n\r\n';

interface TinyServer extends AsyncDisposable {
  readonly port: number;
  /** The body of each request, in the order in which they came. */
  readonly bodies: string[];
  readonly connections: () => number;
}

/** Reads requests of a known form; `answer` decides the answer to each. */
async function startServer(answer: (socket: Socket, request: number) => void): Promise<TinyServer> {
  const bodies: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const [head, body] = text.split('\r\n\r\n');
      const wanted = Number(/content-length: (\d+)/.exec(head ?? '')?.[1]);
      if (body === undefined || body.length < wanted) return;
      // One request at a time on each connection: nothing may follow it.
      expect(body).toHaveLength(wanted);
      text = '';
      bodies.push(body);
      answer(socket, bodies.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    bodies,
    connections: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function putOf(body: string): Buffer {
  return Buffer.from(`PUT /b/${body} HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-bare-puts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function planFor(server: TinyServer, bodies: readonly string[]): Promise<string> {
  const plan = join(folder, 'plan');
  await writePlan(plan, { host: '127.0.0.1', port: server.port }, bodies.map(putOf));
  return plan;
}

describe('Bare PUTs', () => {
  const bodies = Array.from({ length: 50 }, (_, index) => `body ${index}`);

  it('send each request once, over the given number of connections', async () => {
    await using server = await startServer((socket) => socket.write(OK));
    await runPlan(await planFor(server, bodies), 8);
    expect([...server.bodies].sort()).toEqual([...bodies].sort());
    expect(server.connections()).toBe(8);
  });

  it('open at most one connection a request, and none without requests', async () => {
    await using server = await startServer((socket) => socket.write(OK));
    await runPlan(await planFor(server, ['one', 'two']), 8);
    expect(server.connections()).toBe(2);
    await runPlan(await planFor(server, []), 8);
    expect(server.connections()).toBe(2);
  });

  it('wait for the rest of an answer that arrives in pieces', async () => {
    await using server = await startServer((socket) => {
      socket.write(OK.slice(0, 11));
      setImmediate(() => socket.write(OK.slice(11)));
    });
    await runPlan(await planFor(server, bodies), 2);
    expect(server.bodies).toHaveLength(bodies.length);
  });

  it('fail at an answer other than 200', async () => {
    const refusal = 'HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n';
    await using server = await startServer((socket, request) => socket.write(request < 20 ? OK : refusal));
    await expect(runPlan(await planFor(server, bodies), 4)).rejects.toThrow('503 Slow Down');
  });

  it('fail when the server closes a connection or does not exist', async () => {
    const server = await startServer((socket) => socket.end());
    const plan = await planFor(server, bodies);
    await expect(runPlan(plan, 4)).rejects.toThrow('closed the connection');
    await server[Symbol.asyncDispose]();
    await expect(runPlan(plan, 4)).rejects.toThrow('ECONNREFUSED');
  });
});
