/** Offers a folder to other machines over HTTP/1.1; `PROTOCOL.md` says how. */
import { once, setMaxListeners } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { DrayError } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import { systemClock } from '../base/clock.ts';
import { loadCrc64 } from '../base/crc64-nvme.ts';
import { PEER_LIMITS, PEER_PROTOCOL } from '../model/peer-protocol.ts';
import { TEMPORARY_FOLDER_NAME } from '../workspace/scan.ts';
import { openTreeWriter } from '../workspace/tree-writer.ts';
import type { TreeWriter } from '../workspace/tree-writer-contract.ts';
import { answerError, answerJson, type PeerCall, PeerRefusal } from './peer-call.ts';
import { answerContent } from './peer-content.ts';
import { createPeerDeltas, type PeerDeltas } from './peer-deltas.ts';
import { answerEntries } from './peer-entries.ts';
import { createGuard } from './peer-guard.ts';
import { answerKeep } from './peer-keep.ts';
import { createPeerObjects, type PeerObjects } from './peer-objects.ts';
import { type OfferedFolder, openOffered } from './peer-paths.ts';
import { answerRead } from './peer-reads.ts';
import { createPeerUploads, type PeerUploads } from './peer-uploads.ts';
import { answerRemove, answerTouch, answerWrite } from './peer-writes.ts';

export interface ServeFolderOptions {
  readonly root: string;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly token: string;
  readonly isReadOnly: boolean;
  /** PEM. Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Names that it may be asked by, beside addresses. */
  readonly hostNames: readonly string[];
  readonly connectionsMax: number;
  readonly software: string;
  /** Told of each that was let in. */
  readonly onRequest?: () => void;
  /** What failed inside, for the one who runs the server. */
  readonly onFailure: (error: unknown) => void;
}

export interface PeerServer {
  readonly address: AddressInfo;
  /** Ends requests under way; what large uploads have brought so far is kept. Idempotent. */
  close(): Promise<void>;
}

/** Contents of requests in memory at once. */
const BODIES_BYTES_MAX = 192 * 1024 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;

interface Offer {
  readonly options: ServeFolderOptions;
  readonly folder: OfferedFolder;
  readonly budget: Budget;
  readonly writer: TreeWriter;
  readonly uploads: PeerUploads;
  readonly objects: PeerObjects;
  readonly deltas: PeerDeltas;
}

/** @throws DrayError `notFound` for the folder, `usage` for an address that cannot be listened at. */
export async function serveFolder(options: ServeFolderOptions): Promise<PeerServer> {
  await loadCrc64();
  const folder = openOffered(options.root);
  const stop = new AbortController();
  const budget = new Budget(BODIES_BYTES_MAX);
  const writer = openTreeWriter({
    root: folder.realRoot,
    temporaryFolder: join(folder.realRoot, TEMPORARY_FOLDER_NAME),
    isTemporaryFolderOwn: true,
    signal: stop.signal,
  });
  const uploads = createPeerUploads({ writer, budget, clock: systemClock });
  const objects = createPeerObjects({ folder, budget, isReadOnly: options.isReadOnly });
  const deltas = createPeerDeltas({
    folder,
    writer,
    budget,
    clock: systemClock,
    isReadOnly: options.isReadOnly,
    signal: stop.signal,
  });
  const offer: Offer = { options, folder, budget, writer, uploads, objects, deltas };
  const guard = createGuard({ token: options.token, hostNames: options.hostNames });
  const connections = followConnections();
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    void answer({ connections, guard, offer, request, response, stop: stop.signal });
  };
  const server = await createServer(options, onRequest);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueInTurn(response);
    onRequest(request, response);
  });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = 0;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = options.connectionsMax;
  await listen(server, options);
  let closing: Promise<void> | undefined;
  const close = async () => {
    server.close();
    await uploads.close();
    await objects.close();
    await deltas.close();
    stop.abort();
    server.closeAllConnections();
    await writer.close();
  };
  return {
    address: server.address() as AddressInfo,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function createServer(
  { tls }: ServeFolderOptions,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const limits = {
    maxHeaderSize: PEER_LIMITS.headerBytesMax,
    connectionsCheckingInterval: 5_000,
    noDelay: true,
  };
  if (!tls) return createHttpServer(limits, onRequest);
  const { createServer: createHttpsServer } = await import('node:https');
  return createHttpsServer({ ...limits, ...tls, minVersion: 'TLSv1.3' }, onRequest);
}

/** Node by itself writes `100 Continue` of a pipelined request into the answer, when that is ready before its turn. */
function continueInTurn(response: ServerResponse): void {
  const write = () => {
    if (!response.headersSent) response.writeContinue();
  };
  if (response.socket) write();
  else response.once('socket', write);
}

function listen(server: Server, { host, port }: ServeFolderOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new DrayError(
          'usage',
          `${host}:${port} cannot be listened at: ${error.code ?? error.message}. Choose another with --listen.`,
          { cause: error },
        ),
      );
    });
    server.listen({ host, port }, () => resolve());
  });
}

/**
 * Requests of one connection are dealt with one after another: what a later one holds, memory above all, an earlier one never waits for.
 * @returns Whether there is still somebody to answer.
 */
async function hasTurn(response: ServerResponse, gone: AbortSignal): Promise<boolean> {
  if (gone.aborted) return false;
  if (response.socket) return true;
  try {
    await once(response, 'socket', { signal: gone });
    return true;
  } catch {
    return false;
  }
}

interface Connections {
  /** Aborted when the connection is closed. An answer that waits for its turn is not told of that by itself. */
  signalOf(socket: Socket): AbortSignal;
}

function followConnections(): Connections {
  const controllers = new WeakMap<Socket, AbortController>();
  return {
    signalOf(socket) {
      let controller = controllers.get(socket);
      if (!controller) {
        controller = new AbortController();
        controllers.set(socket, controller);
        setMaxListeners(0, controller.signal);
        if (socket.destroyed) controller.abort();
        else socket.once('close', () => controller?.abort());
      }
      return controller.signal;
    },
  };
}

interface Incoming {
  readonly connections: Connections;
  readonly offer: Offer;
  readonly guard: (request: IncomingMessage) => void;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly stop: AbortSignal;
}

async function answer({ connections, guard, offer, request, response, stop }: Incoming): Promise<void> {
  const gone = connections.signalOf(request.socket);
  // A request whose body breaks off is told to whoever reads it; one that nobody reads must not end the process.
  request.on('error', () => {});
  response.on('error', () => {});
  // After a wish for another protocol, which is not granted, nothing more is read from the connection.
  if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
  if (!(await hasTurn(response, gone))) return;
  try {
    guard(request);
    offer.options.onRequest?.();
    const call = callOf(request, response, AbortSignal.any([stop, gone]));
    await route(offer, call);
  } catch (error) {
    const isKnown = error instanceof PeerRefusal || error instanceof DrayError || gone.aborted;
    if (!isKnown) offer.options.onFailure(error);
    await answerError({ request, response }, error);
  }
}

function callOf(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): PeerCall {
  let url: URL;
  try {
    url = new URL(request.url ?? '', 'http://peer');
  } catch {
    throw new PeerRefusal(400, 'usage', 'The request names no path.');
  }
  const [, version, ...parts] = url.pathname.split('/');
  if (version !== `v${PEER_PROTOCOL}`)
    throw new PeerRefusal(
      404,
      'unsupported',
      `This peer speaks version ${PEER_PROTOCOL} of the protocol, under /v${PEER_PROTOCOL}/.`,
    );
  return { method: request.method ?? '', route: parts, query: url.searchParams, request, response, signal };
}

const WRITES = new Set(['write', 'remove', 'touch', 'keep', 'uploads']);

async function route(offer: Offer, call: PeerCall): Promise<void> {
  const { budget, deltas, folder, objects, options, uploads } = offer;
  const [name = '', id, action, ...rest] = call.route;
  if (rest.length > 0) throw unknownRoute();
  if (options.isReadOnly && WRITES.has(name))
    throw new PeerRefusal(403, 'accessDenied', 'This peer is read-only.');
  const at = `${call.method} ${[name, id === undefined ? undefined : '*', action].filter((part) => part !== undefined).join('/')}`;
  switch (at) {
    case 'GET ':
      return answerJson(call.response, 200, describe(offer));
    case 'GET entries':
      return answerEntries(call, folder);
    case 'GET content':
    case 'HEAD content':
      return answerContent(call, folder);
    case 'POST read':
      return answerRead(call, { folder, budget });
    case 'POST write':
      return answerWrite(call, offer);
    case 'POST remove':
      return answerRemove(call, offer);
    case 'POST keep':
      return answerKeep(call, offer);
    case 'POST touch':
      return answerTouch(call, offer);
    case 'POST objects/*':
      return objects.answer(call, id!);
    case 'POST deltas':
      return deltas.open(call);
    case 'DELETE deltas/*':
      return deltas.end(call, id!);
    case 'POST uploads':
      return uploads.begin(call);
    case 'PUT uploads/*':
      return uploads.put(call, id!);
    case 'POST uploads/*/holes':
      return uploads.holes(call, id!);
    case 'POST uploads/*/state':
      return uploads.state(call, id!);
    case 'POST uploads/*/complete':
      return uploads.complete(call, id!);
    case 'DELETE uploads/*':
      return uploads.discard(call, id!);
    default:
      if (call.method === 'POST' && name === 'deltas' && action !== undefined)
        return deltas.answer(call, id!, action);
      throw unknownRoute();
  }
}

function unknownRoute(): PeerRefusal {
  return new PeerRefusal(404, 'unsupported', 'This peer knows no such request.');
}

function describe({ options }: Offer): unknown {
  return {
    protocol: PEER_PROTOCOL,
    software: options.software,
    readOnly: options.isReadOnly,
    limits: PEER_LIMITS,
    platform: process.platform,
    timeMs: systemClock.nowMs(),
  };
}
