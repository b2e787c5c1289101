/**
 * Tests WebSockets of a real client against the real server. The engine behind it does what the test says.
 */
import { connect as connectTo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import WebSocket from 'ws';
import { protocolsOf } from '../../engine/api/window/window-key.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { startTestWindow, type TestWindow } from './window-server.fixture.ts';

const MIB = 1024 * 1024;

/** Enough even for a busy machine. */
const WAIT = { timeout: 120_000 };

let sandbox: Sandbox;
let window: TestWindow;
let sockets: WebSocket[];
beforeEach(async () => {
  sandbox = createSandbox();
  window = await startTestWindow(sandbox);
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  await window?.[Symbol.asyncDispose]();
  sandbox?.[Symbol.dispose]();
});

interface ConnectOptions {
  readonly headers?: Record<string, string>;
  readonly origin?: string;
  readonly path?: string;
  readonly key?: string;
}

/** The open socket, or the status that refused it. */
async function connect({
  headers = {},
  origin,
  path = '/host',
  key = window.key,
}: ConnectOptions): Promise<WebSocket | number> {
  const socket = new WebSocket(`ws://127.0.0.1:${window.server.port}${path}`, [...protocolsOf(key)], {
    headers,
    ...(origin === undefined ? {} : { origin }),
  });
  sockets.push(socket);
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.once('error', reject);
  });
}

async function connectAsPage(): Promise<WebSocket> {
  const socket = await connect({ headers: { cookie: await window.open() }, origin: window.origin });
  if (typeof socket === 'number') throw new Error(`Refused with ${socket}.`);
  return socket;
}

function closeCode(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.once('close', resolve));
}

describe('who may connect', () => {
  it('only a page of this origin with the cookie and the key', async () => {
    const headers = { cookie: await window.open() };
    const { origin } = window;
    expect(await connect({ headers, origin })).toBeInstanceOf(WebSocket);
    expect(await connect({ headers })).toBe(403);
    expect(await connect({ headers, origin: 'http://evil.example' })).toBe(403);
    expect(await connect({ headers, origin: 'null' })).toBe(403);
    expect(await connect({ headers, origin: `http://127.0.0.1:${window.server.port + 1}` })).toBe(403);
    expect(await connect({ origin })).toBe(403);
    for (const key of ['', 'x'.repeat(43), `${window.key}x`])
      expect(await connect({ headers, key, origin })).toBe(403);
    expect(await connect({ headers: { ...headers, host: 'evil.example' }, origin })).toBe(421);
    expect(await connect({ headers, origin, path: '/elsewhere' })).toBe(404);
    expect(window.ports).toHaveLength(1);
  });

  it('a refused client that keeps its connection open does not keep the server from closing', async () => {
    const { port } = window.server;
    const client = connectTo({ host: '127.0.0.1', port, allowHalfOpen: true });
    try {
      let answer = '';
      client.setEncoding('utf8').on('data', (text: string) => {
        answer += text;
      });
      const ended = new Promise((resolve) => client.once('end', resolve));
      const head = [
        'GET /host HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
      ];
      client.write(`${head.join('\r\n')}\r\n\r\n`);
      await ended;
      expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
      const closed = window.server.close().then(() => 'closed');
      const late = new Promise((resolve) => setTimeout(resolve, WAIT.timeout, 'open').unref());
      expect(await Promise.race([closed, late])).toBe('closed');
    } finally {
      client.destroy();
    }
  });

  it('sixteen at once; a closed one frees its place', async () => {
    const headers = { cookie: await window.open() };
    const { origin } = window;
    for (let count = 0; count < 16; count += 1)
      expect(await connect({ headers, origin })).toBeInstanceOf(WebSocket);
    expect(await connect({ headers, origin })).toBe(503);
    sockets[0]!.close();
    await vi.waitFor(async () => expect(await connect({ headers, origin })).toBeInstanceOf(WebSocket), WAIT);
  });
});

describe('messages', () => {
  it('pass both ways, and the port closes with the socket', async () => {
    const socket = await connectAsPage();
    const asked = { do: 'ask', id: 1, name: 'home.list', input: {} };
    socket.send(JSON.stringify(asked));
    const [port] = window.ports;
    await vi.waitFor(() => expect(port!.received).toEqual([asked]), WAIT);
    const heard = new Promise((resolve) =>
      socket.once('message', (data) => resolve(JSON.parse(String(data)))),
    );
    port!.send({ is: 'answer', id: 1, answer: { workspaces: [] } });
    expect(await heard).toEqual({ is: 'answer', id: 1, answer: { workspaces: [] } });
    socket.close();
    await vi.waitFor(() => expect(port!.isClosed()).toBe(true), WAIT);
  });

  it.each([
    ['binary ones', 1003, Buffer.from('{}')],
    ['ones that are not JSON', 1007, '{'],
    ['ones of more than 1 MiB', 1009, JSON.stringify('x'.repeat(MIB))],
  ])('%s close the socket with %i', async (_what, code, message) => {
    const socket = await connectAsPage();
    const closed = closeCode(socket);
    socket.send(message);
    expect(await closed).toBe(code);
    await vi.waitFor(() => expect(window.ports[0]!.isClosed()).toBe(true), WAIT);
    expect(window.ports[0]!.received).toEqual([]);
  });

  it('an engine that ends closes the socket, so that the window connects again', async () => {
    const closed = closeCode(await connectAsPage());
    window.ports[0]!.end();
    expect(await closed).toBe(1012);
  });

  it('for a window that does not read are held, only the newest state of each, and arrive when it reads', async () => {
    const socket = await connectAsPage();
    const [port] = window.ports;
    const heard: { is: string; id: number; events?: { filesDone: number }[] }[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    socket.pause();
    // More than the system's own buffers hold.
    const answer = 'x'.repeat(4 * MIB);
    for (let id = 1; id <= 4; id += 1) port!.send({ is: 'answer', id, answer });
    for (let filesDone = 1; filesDone <= 5_000; filesDone += 1)
      port!.send({ is: 'events', id: 9, events: [{ type: 'progress', phase: 'upload', filesDone }] });
    // Nothing is read from it meanwhile.
    socket.send('{"do":"stop","id":1}');
    socket.resume();
    await vi.waitFor(() => expect(heard.at(-1)?.events?.at(-1)?.filesDone).toBe(5_000), WAIT);
    expect(heard.filter(({ is }) => is === 'answer').map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(heard.filter(({ is }) => is === 'events').length).toBeLessThan(50);
    await vi.waitFor(() => expect(port!.received).toEqual([{ do: 'stop', id: 1 }]), WAIT);
  });

  it('for a window that never reads disconnect it at the limit', async () => {
    const socket = await connectAsPage();
    const [port] = window.ports;
    socket.pause();
    const answer = 'x'.repeat(64 * 1024);
    for (let id = 1; id <= 21_000 && !port!.isClosed(); id += 1)
      port!.send({ is: 'answer', id, answer: id < 500 ? answer : '' });
    socket.on('message', () => {});
    const closed = closeCode(socket);
    socket.resume();
    expect(await closed).toBe(1013);
  });
});
