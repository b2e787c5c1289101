/**
 * Serves the window over loopback: its files, a WebSocket to the engine, and files that are dropped on it or
 * dragged out of it. Other users of
 * this machine and pages of other sites can reach the port. Every request must use a loopback name (against
 * DNS rebinding) and carry the cookie that a one-time link gave. Everything except the window's own files
 * also needs the key that the same link gave to a page of this origin (`browser-session.ts`).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { DrayError, type ErrorCode, toErrorRecord } from '../../engine/api/error.ts';
import type { HostPort } from '../../engine/api/window/host-port.ts';
import { keyOfProtocols, WINDOW_KEY_HEADER, withKey } from '../../engine/api/window/window-key.ts';
import { PAGE_HEADERS } from '../../engine/host/window-page.ts';
import { type BrowserSession, createBrowserSession } from './browser-session.ts';
import { createDraggedFiles, type DraggedFiles, sendDragged } from './dragged-files.ts';
import type { DropContext } from './drop-context.ts';
import { dropFile } from './drop-file.ts';
import { sendOnceMore, sendPlainPage } from './plain-page.ts';
import { isFromOwnPage, ownOrigin } from './request-origin.ts';
import { sendFile, type WindowFiles } from './window-files.ts';
import { joinSocket } from './window-socket.ts';

const ADDRESS = '127.0.0.1';
const SOCKETS_MAX = 16;
const MOVES_MAX = 16;
const CONNECTIONS_MAX = 128;
const MESSAGE_BYTES_MAX = 1024 * 1024;
const HEADERS_MS = 10_000;
/** A browser sends the cookies of every server that it knows on this machine. */
const HEADER_BYTES_MAX = 64 * 1024;

export interface WindowServerOptions {
  /** 0: any free port. */
  readonly port: number;
  readonly files: WindowFiles;
  /** Opens a port of the engine for one browser. */
  readonly openPort: () => HostPort;
  readonly dropContext: DropContext;
  /** The place in the window that its links lead to: `#/home?workspace=...`. */
  readonly startsAt?: string;
  /** Called when a browser has used its link. */
  readonly onOpened?: (link: string) => void;
}

export interface WindowServer {
  readonly port: number;
  /** A link for one browser, once. */
  newLink(): string;
  /** Disconnects every browser. Resolves when the port is free. */
  close(): Promise<void>;
}

interface Serving extends WindowServerOptions {
  readonly port: number;
  readonly session: BrowserSession;
  readonly sockets: WebSocketServer;
  readonly closing: AbortController;
  readonly dragged: DraggedFiles;
  /** Files on their way, in or out. */
  moves: number;
}

/** @throws `usage` if the port is taken or not allowed. */
export async function serveWindow(options: WindowServerOptions): Promise<WindowServer> {
  const { WebSocketServer } = await import('ws');
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: true,
  });
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: 0,
    maxHeaderSize: HEADER_BYTES_MAX,
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, options.port);
  const { port } = server.address() as AddressInfo;
  const serving: Serving = {
    ...options,
    port,
    session: createBrowserSession(),
    sockets,
    closing: new AbortController(),
    dragged: createDraggedFiles(),
    moves: 0,
  };
  server.on('request', (request, response) => void answer(serving, request, response));
  server.on('upgrade', (request, socket, head) => upgrade(serving, request, socket, head));
  return {
    port,
    newLink: () => linkOf(serving, serving.session.newToken()),
    close: async () => {
      serving.closing.abort(new DrayError('aborted', 'Stopped on request.'));
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'another program uses it' : cause.message;
      const message = `Port ${port} cannot be used: ${why}.`;
      reject(new DrayError('usage', message, { data: { port, reason: cause.code }, cause }));
    });
    server.listen(port, ADDRESS, resolve);
  });
}

async function answer(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
  response.on('error', () => {});
  try {
    await route(serving, request, response);
  } catch (error) {
    if (response.headersSent || response.destroyed) response.destroy();
    else sendJson(response, statusOf(toErrorRecord(error).code), toErrorRecord(error));
  }
  // Unread content would be parsed as the next request.
  if (!request.complete) response.once('finish', () => request.destroy());
}

async function route(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const own = ownOrigin(request.headers);
  if (!own)
    return sendJson(
      response,
      421,
      refused('The window is not available under this host name. Use localhost or 127.0.0.1.'),
    );
  const url = URL.parse(request.url ?? '', `http://${ADDRESS}`);
  if (!url) return sendJson(response, 400, refused('The address is invalid.'));
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  const isPage = isReading && url.pathname === '/';
  const token = url.searchParams.get('t');
  if (isPage && token !== null) return redeem(serving, { request, response, token, port: own.port });
  if (!serving.session.isKnown(request.headers.cookie, own.port)) {
    const isFollowed = comesFrom(request) === 'cross-site' && !url.searchParams.has('again');
    if (isPage && isFollowed) return sendOnceMore(response);
    return sendPlainPage(response, 'noSession');
  }
  const key = request.headers[WINDOW_KEY_HEADER]?.toString();
  const isKeyed = key !== undefined && serving.session.isKey(key);
  // A page with the key of an earlier run learns here that the key is void.
  if (key !== undefined && !isKeyed) return sendPlainPage(response, 'noSession');
  // The cookie is set by now, so the page moves to its usual address.
  if (isPage && url.searchParams.has('again')) return leadToWindow(response);
  if (request.method === 'POST' && url.pathname === '/drop')
    return isKeyed
      ? drop(serving, request, response, url.searchParams)
      : sendJson(response, 403, refused('Only the window can send files here.'));
  if (request.method === 'POST' && url.pathname === '/drag')
    return isKeyed && isFromOwnPage(request.headers)
      ? offer(serving, response, url.searchParams)
      : sendJson(response, 403, refused('Only the window can offer files here.'));
  const [, dragged, name] = DRAGGED.exec(url.pathname) ?? [];
  if (request.method === 'GET' && dragged !== undefined)
    return sendOffered(serving, response, { token: dragged, name: decodeName(name!) });
  const file = serving.files.get(url.pathname);
  if (!file) return sendJson(response, 404, { code: 'notFound', message: 'There is no such page.' });
  if (isReading) return sendFile(request, response, file);
  response.setHeader('allow', 'GET, HEAD');
  return sendJson(response, 405, refused('This address is read-only.'));
}

interface Redeeming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly token: string;
  readonly port: string;
}

function redeem(serving: Serving, redeeming: Redeeming): void {
  const { request, response } = redeeming;
  // Browsers prefetch addresses that a user may open.
  const isEarly = /\bprefetch\b/.test(
    String(request.headers['sec-purpose'] ?? request.headers.purpose ?? ''),
  );
  const hash = isEarly ? undefined : enter(serving, redeeming);
  if (hash === undefined) sendPlainPage(response, isEarly ? 'early' : 'usedLink');
  else if (['none', 'same-origin'].includes(comesFrom(request) ?? '')) leadToWindow(response, hash);
  else sendOnceMore(response, hash);
}

/**
 * Gives the cookie and the key to the first browser that opens the link. A browser that already has the
 * cookie may also enter. @returns The fragment of the window's address, which browsers send to no server.
 * Undefined: the browser may not enter.
 */
function enter(serving: Serving, { port, request, response, token }: Redeeming): string | undefined {
  const { onOpened, session, startsAt = '' } = serving;
  // A HEAD request does not use up the link.
  const given = request.method === 'GET' ? session.redeem(token, port) : undefined;
  if (!given) return session.isKnown(request.headers.cookie, port) ? startsAt : undefined;
  response.setHeader('set-cookie', given.cookie);
  onOpened?.(linkOf(serving, token));
  return withKey(given.key, startsAt);
}

function leadToWindow(response: ServerResponse, hash = ''): void {
  response.setHeader('cache-control', 'no-store');
  response.writeHead(303, { location: `/${hash}` }).end();
}

/**
 * Fetch Metadata: `none` for an address that was typed or opened by another program. Undefined if the browser
 * does not send it.
 */
function comesFrom({ headers }: IncomingMessage): string | undefined {
  return headers['sec-fetch-site']?.toString();
}

function linkOf({ port, startsAt = '' }: Pick<Serving, 'port' | 'startsAt'>, token: string): string {
  return `http://${ADDRESS}:${port}/?t=${token}${startsAt}`;
}

async function drop(
  serving: Serving,
  request: IncomingMessage,
  response: ServerResponse,
  parameters: URLSearchParams,
): Promise<void> {
  if (!isFromOwnPage(request.headers))
    return sendJson(response, 403, refused('Only the window can send files here.'));
  return move(serving, response, async (signal) => {
    sendJson(response, 201, await dropFile(request, parameters, { context: serving.dropContext, signal }));
  });
}

function offer({ dragged }: Serving, response: ServerResponse, parameters: URLSearchParams): void {
  dragged.offer(parameters.get('token') ?? '', parameters.get('place') ?? '');
  response.writeHead(204).end();
}

/** `/dragged/TOKEN/NAME`. */
const DRAGGED = /^\/dragged\/([\w-]+)\/([^/]+)$/;

/** An address that another site made up has no valid token, so it gets nothing. */
async function sendOffered(
  serving: Serving,
  response: ServerResponse,
  { name, token }: { readonly token: string; readonly name: string },
): Promise<void> {
  const place = serving.dragged.take(token);
  if (place === undefined) {
    const message = 'This file is no longer offered. Drag it again.';
    return sendJson(response, 404, { code: 'notFound', message });
  }
  await move(serving, response, (signal) =>
    sendDragged(response, { place, name, port: serving.openPort(), signal }),
  );
}

function decodeName(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return 'file';
  }
}

/** Moves a file, unless too many are on their way. Ends with the browser's request or the server. */
async function move(
  serving: Serving,
  response: ServerResponse,
  act: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (serving.moves >= MOVES_MAX) {
    response.setHeader('retry-after', '1');
    return sendJson(response, 503, {
      code: 'slowDown',
      message: 'Too many files at once. Drop fewer files, or wait until some have ended.',
    });
  }
  serving.moves += 1;
  const gone = new AbortController();
  const leave = () => gone.abort(new DrayError('aborted', 'The browser went away.'));
  response.once('close', leave);
  try {
    await act(AbortSignal.any([gone.signal, serving.closing.signal]));
  } finally {
    response.off('close', leave);
    serving.moves -= 1;
  }
}

function upgrade(serving: Serving, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.on('error', () => socket.destroy());
  const status = refuseUpgrade(serving, request);
  if (status !== undefined) {
    // After the upgrade the HTTP server no longer tracks this socket, so closing it is our task.
    socket.once('finish', () => socket.destroy());
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    return;
  }
  serving.sockets.handleUpgrade(request, socket, head, (joined) => {
    try {
      joinSocket(joined, serving.openPort());
    } catch {
      joined.close(1011, 'The engine is not running.');
    }
  });
}

function refuseUpgrade({ session, sockets }: Serving, { headers, url }: IncomingMessage): string | undefined {
  const own = ownOrigin(headers);
  if (!own) return '421 Misdirected Request';
  if (!isFromOwnPage(headers) || !session.isKnown(headers.cookie, own.port)) return '403 Forbidden';
  if (!session.isKey(keyOfProtocols(headers['sec-websocket-protocol']))) return '403 Forbidden';
  if (url !== '/host') return '404 Not Found';
  return sockets.clients.size >= SOCKETS_MAX ? '503 Service Unavailable' : undefined;
}

function refused(message: string): { readonly code: ErrorCode; readonly message: string } {
  return { code: 'accessDenied', message };
}

function statusOf(code: ErrorCode): number {
  if (code === 'usage' || code === 'unsafePath') return 400;
  if (code === 'notFound' || code === 'bucketMissing') return 404;
  if (code === 'conflict') return 409;
  if (code === 'diskFull') return 507;
  return 500;
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.setHeader('content-type', 'application/json');
  response.setHeader('cache-control', 'no-store');
  response.writeHead(status).end(JSON.stringify(value));
}
