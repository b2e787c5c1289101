/** Serves a folder to other machines over HTTP/1.1; see `PROTOCOL.md`. */
import { once, setMaxListeners } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { DrayError } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { loadCrc64 } from '../checksums/crc64-nvme.ts';
import { openTreeWriter } from '../files/write/tree-writer.ts';
import type { TreeWriter } from '../files/write/tree-writer-types.ts';
import { TEMPORARY_FOLDER_NAME } from '../model/unfinished-name.ts';
import { PEER_LIMITS, PEER_PROTOCOL } from '../peer-protocol/messages.ts';
import { type Admission, createAdmission } from './peer-admission.ts';
import {
  answerError,
  answerJson,
  asRefusal,
  type PeerCall,
  PeerRefusal,
  readOnlyRefusal,
} from './peer-call.ts';
import { answerContent } from './peer-content.ts';
import { createPeerDeltas, type PeerDeltas } from './peer-deltas.ts';
import { answerEntries } from './peer-entries.ts';
import { createGuard } from './peer-guard.ts';
import { answerKeep } from './peer-keep.ts';
import { createPeerObjects, type PeerObjects } from './peer-objects.ts';
import { type OfferedFolder, openOffered } from './peer-paths.ts';
import { type PeerPatience, showLife, watchReader } from './peer-patience.ts';
import { answerRead } from './peer-reads.ts';
import { PeerUploads } from './peer-uploads.ts';
import { answerRemove, answerSync, answerTouch, answerWrite } from './peer-writes.ts';

export interface ServeFolderOptions {
  readonly root: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly token: string;
  readonly isReadOnly: boolean;
  /** Accept set-uid, set-gid and sticky bits from clients. Default: drop them. */
  readonly specialModes?: boolean;
  /** PEM. Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Host names that clients may use, besides addresses. */
  readonly hostNames: readonly string[];
  /** One connection more is closed at once. */
  readonly connectionsMax: number;
  readonly patience?: PeerPatience;
  readonly software: string;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Called for each admitted request. */
  readonly onRequest?: () => void;
  /** Internal errors, for the server's operator. */
  readonly onFailure: (error: unknown) => void;
}

export interface PeerServer {
  readonly address: AddressInfo;
  /** Ends running requests; received ranges of large uploads are kept. Idempotent. */
  close(): Promise<void>;
}

/** The limit for contents of requests in memory at once. */
const BODIES_BYTES_MAX = 192 * 1024 * 1024;
const PATIENCE: PeerPatience = { headersMs: 10_000, paceMs: 30_000, stallMs: 60_000, aliveMs: 15_000 };
const KEEP_ALIVE_MS = 60_000;
const TENDED_EVERY_MS = 60 * 60_000;

interface Offer {
  readonly options: ServeFolderOptions;
  readonly folder: OfferedFolder;
  readonly budget: Budget;
  readonly writer: TreeWriter;
  readonly uploads: PeerUploads;
  readonly objects: PeerObjects;
  readonly deltas: PeerDeltas;
  readonly specialModes: boolean;
}

/** @throws DrayError `notFound` for the folder, `usage` for an address that it cannot listen on. */
export async function serveFolder(options: ServeFolderOptions): Promise<PeerServer> {
  await loadCrc64();
  const { onFailure, patience = PATIENCE, specialModes = false } = options;
  const folder = openOffered(options.root);
  const stop = new AbortController();
  const budget = new Budget(BODIES_BYTES_MAX);
  const writer = openTreeWriter({
    root: folder.realRoot,
    temporaryFolder: join(folder.realRoot, TEMPORARY_FOLDER_NAME),
    isTemporaryFolderOwn: true,
    isWatchful: true,
    isSweptLate: options.isReadOnly,
    signal: stop.signal,
  });
  const tending = options.isReadOnly
    ? undefined
    : setInterval(() => tend(writer, onFailure), TENDED_EVERY_MS).unref();
  const uploads = new PeerUploads({ writer, budget, clock: systemClock, onFailure, specialModes });
  const objects = createPeerObjects({ folder, budget, isReadOnly: options.isReadOnly });
  const deltas = createPeerDeltas({
    folder,
    writer,
    budget,
    specialModes,
    clock: systemClock,
    isReadOnly: options.isReadOnly,
    signal: stop.signal,
    onFailure,
  });
  const offer: Offer = { options, folder, budget, writer, uploads, objects, deltas, specialModes };
  const guard = createGuard({ token: options.token, hostNames: options.hostNames });
  const connections = followConnections();
  const admission = createAdmission({
    clock: options.clock ?? systemClock,
    connectionsMax: options.connectionsMax,
    // For the TLS handshake, and for the headers.
    waitMs: 2 * patience.headersMs,
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    void answer({ admission, connections, guard, offer, patience, request, response, stop: stop.signal });
  };
  const server = await createServer(options, onRequest);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueInTurn(response);
    onRequest(request, response);
  });
  server.on('connection', (socket: Socket) => admission.arrived(socket));
  const expiring = setInterval(() => admission.expire(), patience.headersMs / 2).unref();
  server.headersTimeout = patience.headersMs;
  server.requestTimeout = 0;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = options.connectionsMax;
  await listen(server, options);
  // A failed accept, as for want of descriptors, must not end the other connections.
  server.on('error', onFailure);
  let closing: Promise<void> | undefined;
  const close = async () => {
    clearInterval(tending);
    clearInterval(expiring);
    server.close();
    // First, because running requests are awaited, and a client may take its time.
    server.closeAllConnections();
    await uploads.close();
    await objects.close();
    await deltas.close();
    stop.abort();
    await writer.close();
    folder.folders.close();
  };
  return {
    address: server.address() as AddressInfo,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Nobody waits for it. A failure, such as a full disk, repeats an hour later. */
function tend(writer: TreeWriter, onFailure: ServeFolderOptions['onFailure']): void {
  try {
    writer.tend(systemClock.nowMs());
  } catch (error) {
    onFailure(error);
  }
}

/** All of TLS 1.3, cheapest first: AES-128 takes two thirds of the rounds of AES-256. */
const CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

async function createServer(
  { patience = PATIENCE, tls }: ServeFolderOptions,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const limits = {
    maxHeaderSize: PEER_LIMITS.headerBytesMax,
    connectionsCheckingInterval: patience.headersMs / 2,
    noDelay: true,
  };
  if (!tls) {
    // Importing it also loads Node's own undici (15 ms), which only `serve` should pay for.
    const { createServer: createHttpServer } = await import('node:http');
    return createHttpServer(limits, onRequest);
  }
  const { createServer: createHttpsServer } = await import('node:https');
  return createHttpsServer(
    {
      ...limits,
      ...tls,
      // Before the handshake ends no header can arrive.
      handshakeTimeout: patience.headersMs,
      minVersion: 'TLSv1.3',
      ciphers: CIPHERS,
      honorCipherOrder: true,
    },
    onRequest,
  );
}

/**
 * Node itself writes `100 Continue` of a pipelined request into a running answer if that is ready before its
 * turn.
 */
function continueInTurn(response: ServerResponse): void {
  const write = () => {
    if (!response.headersSent) response.writeContinue();
  };
  if (response.socket) write();
  else response.once('socket', write);
}

function listen(server: Server, { host, port }: ServeFolderOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => {
      reject(
        new DrayError(
          'usage',
          `Cannot listen on ${host}:${port}: ${error.code ?? error.message}. Choose another address with --listen.`,
          { cause: error },
        ),
      );
    };
    server.once('error', refuse);
    server.listen({ host, port }, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}

/**
 * Requests of one connection are handled one after another, so an earlier one never waits for what a later
 * one holds, above all memory. @returns Whether the client is still there.
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
  /** Aborted when the connection is closed. A waiting answer does not notice that by itself. */
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
  readonly admission: Admission;
  readonly connections: Connections;
  readonly offer: Offer;
  readonly guard: (request: IncomingMessage) => void;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly patience: PeerPatience;
  readonly stop: AbortSignal;
}

async function answer(incoming: Incoming): Promise<void> {
  const { connections, offer, patience, request, response, stop } = incoming;
  const gone = connections.signalOf(request.socket);
  // An interrupted body fails its reader. If nobody reads it, the error must not end the process.
  request.on('error', () => {});
  response.on('error', () => {});
  // After an upgrade request, which is refused, nothing more is read from the connection.
  if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
  if (!(await hasTurn(response, gone))) return;
  watchReader(response, patience);
  try {
    admit(incoming);
    showLife(response, patience);
    offer.options.onRequest?.();
    const signal = AbortSignal.any([stop, gone]);
    await route(offer, { ...routeOf(request), request, response, signal, patience });
  } catch (thrown) {
    const error = asRefusal(thrown);
    const isKnown = error instanceof PeerRefusal || error instanceof DrayError || gone.aborted;
    if (!isKnown) offer.options.onFailure(error);
    await answerError({ request, response }, error);
  }
}

/** @throws PeerRefusal */
function admit({ admission, guard, request }: Incoming): void {
  try {
    guard(request);
  } catch (error) {
    // A request without a token is not a guess.
    const isWrong = error instanceof PeerRefusal && error.status === 401 && request.headers.authorization;
    if (isWrong) admission.refused(request.socket);
    throw error;
  }
  admission.letIn(request.socket);
}

function routeOf(request: IncomingMessage): Pick<PeerCall, 'method' | 'query' | 'route'> {
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
      `This peer supports version ${PEER_PROTOCOL} of the protocol, under /v${PEER_PROTOCOL}/.`,
    );
  return { method: request.method ?? '', route: parts, query: url.searchParams };
}

interface Route {
  /** Refused by a read-only peer; `itself`: some of its calls are, and it checks them. */
  readonly writes: boolean | 'itself';
  readonly answer: (call: PeerCall, offer: Offer, id: string, action: string) => Promise<void> | void;
}

const reads = (answer: Route['answer']): Route => ({ writes: false, answer });
const writes = (answer: Route['answer']): Route => ({ writes: true, answer });
const decides = (answer: Route['answer']): Route => ({ writes: 'itself', answer });

/** By the method and the path below the version; `*` is any number or name. */
export const PEER_ROUTES: Readonly<Record<string, Route>> = {
  'GET ': reads((call, offer) => answerJson(call.response, 200, describe(offer))),
  'GET entries': reads((call, { folder }) => answerEntries(call, folder)),
  'GET content': reads((call, { folder }) => answerContent(call, folder)),
  'HEAD content': reads((call, { folder }) => answerContent(call, folder)),
  'POST read': reads(answerRead),
  'POST write': writes(answerWrite),
  'POST remove': writes(answerRemove),
  'POST keep': writes(answerKeep),
  'POST touch': writes(answerTouch),
  'POST sync': writes(answerSync),
  'POST objects/*': decides((call, { objects }, name) => objects.answer(call, name)),
  'POST deltas': decides((call, { deltas }) => deltas.open(call)),
  'POST deltas/*/*': decides((call, { deltas }, id, action) => deltas.answer(call, id, action)),
  'DELETE deltas/*': decides((call, { deltas }, id) => deltas.end(call, id)),
  'POST uploads': writes((call, { uploads }) => uploads.begin(call)),
  'PUT uploads/*': writes((call, { uploads }, id) => uploads.put(call, id)),
  'POST uploads/*/state': writes((call, { uploads }, id) => uploads.state(call, id)),
  'POST uploads/*/complete': writes((call, { uploads }, id) => uploads.complete(call, id)),
  'DELETE uploads/*': writes((call, { uploads }, id) => uploads.discard(call, id)),
};

async function route(offer: Offer, call: PeerCall): Promise<void> {
  const [name = '', id, action, ...rest] = call.route;
  const [short, long] = [[name, ...(id === undefined ? [] : ['*'])].join('/'), `${name}/*/*`];
  const candidates = action === undefined ? [short] : [`${short}/${action}`, long];
  const found = candidates
    .map((path) => `${call.method} ${path}`)
    .find((at) => Object.hasOwn(PEER_ROUTES, at));
  if (found === undefined || rest.length > 0) throw unknownRoute();
  const { answer: answerCall, writes: isWrite } = PEER_ROUTES[found]!;
  if (offer.options.isReadOnly && isWrite === true) throw readOnlyRefusal();
  await answerCall(call, offer, id ?? '', action ?? '');
}

function unknownRoute(): PeerRefusal {
  return new PeerRefusal(404, 'unsupported', 'This peer does not support this request.');
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
