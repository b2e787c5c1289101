/** For tests: a served folder, a client of it, and hand-written requests. */
import { createCipheriv } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { WriteItem } from '../peer-protocol/messages.ts';
import { openPeerClient, type PeerClient } from '../remotes/peer/peer-client.ts';
import { sumOf } from '../remotes/peer/peer-files.ts';
import { type PeerServer, type ServeFolderOptions, serveFolder } from './serve-folder.ts';

export const TEST_TOKEN = 'a-token-of-this-test';

export interface TestPeer extends AsyncDisposable {
  readonly root: string;
  readonly client: PeerClient;
  readonly port: () => number;
  path(name: string): string;
  /** An old file, whose time is proof of its content. */
  write(name: string, content: string | Uint8Array): void;
  send(
    method: string,
    route: string,
    options?: { readonly headers?: Record<string, string>; readonly body?: string | Uint8Array },
  ): Promise<Response>;
  /** One batch, unchecked by any client. @returns The peer's answer. */
  sendBatch(...items: readonly (WriteItem | FileToSend)[]): Promise<BatchAnswer>;
  /** The same folder at the same port, by a server without memory of the first. */
  restart(): Promise<void>;
}

export interface FileToSend {
  readonly path: string;
  readonly content: string | Uint8Array;
}

interface BatchAnswer {
  readonly results: readonly { readonly error?: unknown }[];
}

/** A test server over plain HTTP: counts requests, and inspects bytes on the way. */
export function plainPlace(port: number, path = ''): string {
  return `dray://127.0.0.1:${port}${path === '' ? '' : `/${path}`}?tls=off`;
}

const OLD_SECONDS = 1_600_000_000;

/** Serves the folder at a port of its own on loopback, with `TEST_TOKEN`. */
export function serveForTest(root: string, more: Partial<ServeFolderOptions> = {}): Promise<PeerServer> {
  return serveFolder({
    root,
    host: '127.0.0.1',
    port: 0,
    token: TEST_TOKEN,
    isReadOnly: false,
    hostNames: [],
    connectionsMax: 64,
    software: 'test',
    onFailure: (error) => console.error(error),
    ...more,
  });
}

export async function startTestPeer(more: Partial<ServeFolderOptions> = {}): Promise<TestPeer> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dray-peer-')));
  const serve = (port: number) => serveForTest(root, { ...more, port });
  let server = await serve(0);
  const { port } = server.address;
  const origin = new URL(`http://127.0.0.1:${port}`);
  const client = await openPeerClient({ origin, token: TEST_TOKEN, connectionsMax: 8, attemptsMax: 3 });
  const send: TestPeer['send'] = (method, route, { body, headers } = {}) =>
    fetch(`${origin.origin}/v1/${route}`, {
      method,
      headers: { authorization: `Bearer ${TEST_TOKEN}`, ...headers },
      ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
    });
  return {
    root,
    client,
    port: () => port,
    path: (name) => join(root, name),
    write(name, content) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), content);
      utimesSync(join(root, name), OLD_SECONDS, OLD_SECONDS);
    },
    send,
    async sendBatch(...items) {
      const contents = items.map((item) => Buffer.from('content' in item ? item.content : ''));
      const described = items.map((item, at) =>
        'content' in item ? fileItem(item.path, contents[at]!) : item,
      );
      const head = Buffer.from(JSON.stringify({ items: described }));
      const headers = { 'dray-head-bytes': String(head.length) };
      const answer = await send('POST', 'write', { headers, body: Buffer.concat([head, ...contents]) });
      return answer.json() as Promise<BatchAnswer>;
    },
    async restart() {
      await server.close();
      server = await serve(port);
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await server.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

export function noise(sizeBytes: number, seed: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16)).update(
    Buffer.alloc(sizeBytes),
  );
}

function fileItem(path: string, bytes: Uint8Array): WriteItem {
  const mtimeNs = `${OLD_SECONDS}000000000`;
  return { kind: 'file', path, sizeBytes: bytes.length, mtimeNs, crc64: sumOf(bytes) };
}
