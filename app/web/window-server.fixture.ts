/**
 * A window's server on a port of its own, with an engine that does what the test says, and requests like a
 * browser's.
 */
import { request } from 'node:http';
import type { HostPort } from '../../engine/api/window/host-port.ts';
import type { Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { serveWindow, type WindowServer, type WindowServerOptions } from './serve-window.ts';
import { readWindowFiles } from './window-files.ts';

export interface FakePort {
  readonly port: HostPort;
  readonly received: unknown[];
  send(message: unknown): void;
  /** As when the engine's thread ends. */
  end(): void;
  isClosed(): boolean;
}

export interface TestWindow extends AsyncDisposable {
  readonly server: WindowServer;
  readonly origin: string;
  /** The headers that a page of this window sends in addition to its cookie. */
  readonly key: string;
  /** One per WebSocket, in order of arrival. */
  readonly ports: readonly FakePort[];
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** Opens a link, and returns the cookie. */
  open(): Promise<string>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export const PAGE = '<!doctype html><title>Dray</title>';

export async function startTestWindow(
  sandbox: Sandbox,
  options: Pick<WindowServerOptions, 'startsAt'> = {},
): Promise<TestWindow> {
  sandbox.write('window/index.html', PAGE);
  sandbox.write('window/assets/main-abc.js', 'plain');
  sandbox.write('window/assets/main-abc.js.br', 'packed');
  sandbox.write('secret.txt', 'secret');
  const ports: FakePort[] = [];
  const server = await serveWindow({
    port: 0,
    files: readWindowFiles(sandbox.path('window')),
    openPort: () => {
      const fake = createFakePort();
      ports.push(fake);
      return fake.port;
    },
    dropContext: { directory: sandbox.folder, connection: {}, environment: async () => ({}) },
    ...options,
  });
  const ask = (path: string, options: AskOptions = {}) => askServer(server.port, path, options);
  const first = await ask(pathOf(server.newLink()));
  return {
    server,
    origin: `http://127.0.0.1:${server.port}`,
    key: keyOf(first),
    ports,
    ask,
    open: async () => {
      const { headers } = await ask(pathOf(server.newLink()));
      return String(headers['set-cookie']).split(';')[0]!;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** The key in the answer to a link: in the address of a redirect, or of a page that leads on. */
export function keyOf({ body, headers }: Answer): string {
  return /#key=([\w-]+)/.exec(`${String(headers.location ?? '')} ${body}`)?.[1] ?? '';
}

export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

/** Not fetch, which would set the Host header itself. */
function askServer(
  port: number,
  path: string,
  { body, headers, method = 'GET' }: AskOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path, method, headers: { ...headers }, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

function createFakePort(): FakePort {
  const received: unknown[] = [];
  let isClosed = false;
  let listener: (message: unknown) => void = () => {};
  let closed = () => {};
  const end = () => {
    if (isClosed) return;
    isClosed = true;
    closed();
  };
  return {
    received,
    send: (message) => listener(message),
    end,
    isClosed: () => isClosed,
    port: {
      post: (message) => received.push(message),
      onMessage: (next) => {
        listener = next;
      },
      onClose: (next) => {
        closed = next;
      },
      close: end,
    },
  };
}
