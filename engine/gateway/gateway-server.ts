/**
 * Answers S3's reading calls over repositories. Nothing is written, and no key becomes a path of this
 * machine: it is looked for among the paths of a commit.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { DrayError } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';
import { loadContentTypes } from '../jobs/trees/move/object-content-type.ts';
import { isLoopback } from '../remotes/remote-url.ts';
import type { Bucket, Located } from './bucket.ts';
import { answerList } from './list-answer.ts';
import { answerObject } from './object-answer.ts';
import { asS3Error, errorDocument, S3Error } from './s3-error.ts';
import { checkSignature, decodeUri, type KeyPair, queryPairs } from './s3-signature.ts';
import { escapeXml } from './s3-xml.ts';

export interface GatewayOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly buckets: ReadonlyMap<string, Bucket>;
  /** Absent: requests need no signature. */
  readonly keys?: KeyPair;
  /** PEM. Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly clock: Clock;
  readonly patience?: Patience;
  /** Runs the answer of one request, which may count what it asks the stores for. */
  readonly around?: <T>(work: () => Promise<T>) => Promise<T>;
  readonly onAnswer?: (answer: AnswerRecord) => void;
  /** Faults of the gateway or of a store, for its operator. */
  readonly onFailure: (error: unknown) => void;
}

/** How long the gateway waits for a client before it ends the connection. */
export interface Patience {
  /** For the whole head of a request. */
  readonly headMs: number;
  /** While nothing travels: for a client that does not read on, or whose answer is not there yet. */
  readonly stallMs: number;
}

/** One line of the log. */
export interface AnswerRecord {
  readonly method: string;
  /** As it was sent, without parameters. */
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
}

export interface Gateway extends AsyncDisposable {
  readonly address: AddressInfo;
}

const CONNECTIONS_MAX = 1_024;
const HEAD_BYTES_MAX = 32 * 1024;
const KEEP_ALIVE_MS = 60_000;
/** A reader may compute for minutes between two parts of a body. */
const PATIENCE: Patience = { headMs: 20_000, stallMs: 5 * 60_000 };
/** Requests of one connection that wait for the answer of an earlier one. S3's clients send none ahead. */
const WAITING_MAX = 64;
const KEY_BYTES_MAX = 1_024 + 256;
const LOCAL_HOST = '.localhost';
const REGION = 'us-east-1';
const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Calls that a client may try first and that a gateway without state has no answer to. */
const KNOWN_PARAMETERS = new Set([
  'continuation-token',
  'delimiter',
  'encoding-type',
  'fetch-owner',
  'list-type',
  'location',
  'marker',
  'max-keys',
  'partNumber',
  'prefix',
  'start-after',
  'versioning',
  'x-id',
]);

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Fires when the client is gone, and when the gateway ends. */
  readonly signal: AbortSignal;
  /** Of the body, as its header says. */
  bytes: number;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await loadContentTypes();
  const { patience = PATIENCE, tls } = options;
  const server = await createServer(tls, patience);
  server.maxConnections = CONNECTIONS_MAX;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.timeout = patience.stallMs;
  const take = inTurn((request, response) => void serve(options, request, response));
  server.on('request', take);
  // A body is never wanted, so no client is asked to send one.
  server.on('checkContinue', take);
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return {
    address: server.address() as AddressInfo,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function createServer(tls: GatewayOptions['tls'], { headMs }: Patience): Promise<Server> {
  const limits = {
    maxHeaderSize: HEAD_BYTES_MAX,
    noDelay: true,
    headersTimeout: headMs,
    connectionsCheckingInterval: headMs / 2,
  };
  if (!tls) return (await import('node:http')).createServer(limits);
  return (await import('node:https')).createServer({ ...limits, ...tls });
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Answers the requests of a connection one after another. Node begins all that a client sends ahead, and the
 * first bytes of each answer would wait in memory.
 */
function inTurn(serveOne: Serve): Serve {
  /** By connections that have an answer under way. */
  const waiting = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const begin = () => {
      response.once('close', () => {
        const next = socket.writable ? waiting.get(socket)?.shift() : undefined;
        if (next) next();
        else waiting.delete(socket);
      });
      serveOne(request, response);
    };
    if (!socket.writable) return;
    const line = waiting.get(socket);
    if (line && line.length >= WAITING_MAX) return void socket.destroy();
    if (line) return void line.push(begin);
    waiting.set(socket, []);
    begin();
  };
}

async function serve(
  options: GatewayOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const began = performance.now();
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const call: Call = {
    request,
    response,
    requestId: nextRequestId(),
    signal: gone.signal,
    bytes: 0,
  };
  const { around = (work) => work() } = options;
  await around(async () => {
    try {
      request.resume();
      await answer(options, call);
    } catch (error) {
      fail(options, call, error);
    }
    const { method = '', url = '' } = request;
    options.onAnswer?.({
      method,
      path: url.split('?', 1)[0]!,
      status: response.statusCode,
      bytes: call.bytes,
      ms: performance.now() - began,
    });
  });
}

const PROCESS_ID = randomBytes(4).toString('hex').toUpperCase();
let requestsSoFar = 0;

function nextRequestId(): string {
  requestsSoFar += 1;
  return PROCESS_ID + requestsSoFar.toString(16).toUpperCase().padStart(8, '0');
}

type Headers = Readonly<Record<string, string>>;

/** As a list, which Node sends as it is. A response that holds headers one by one takes longer. */
function writeHead(call: Call, status: number, headers: Headers = {}): ServerResponse {
  const list = ['x-amz-request-id', call.requestId, 'server', 'Dray'];
  for (const [name, value] of Object.entries(headers)) list.push(name, value);
  call.bytes = Number(headers['content-length'] ?? 0);
  return call.response.writeHead(status, list);
}

function fail({ onFailure }: GatewayOptions, call: Call, error: unknown): void {
  const { request, requestId, response, signal } = call;
  const known = asS3Error(error);
  if (signal.aborted) return;
  if (!known || known.status === 500) onFailure(error);
  // The client sees that the body is not whole.
  if (response.headersSent) return void response.destroy();
  const shown = known ?? new S3Error('InternalError', 'The gateway has a fault. Its log says more.');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const text = errorDocument(shown, request.url?.split('?', 1)[0] ?? '', requestId);
  // What is left of a body that nobody reads would be taken for the next request.
  sendXml(call, shown.status, text, isRead ? shown.headers : { ...shown.headers, connection: 'close' });
}

function sendXml(call: Call, status: number, text: string, headers: Headers = {}): void {
  const bytes = Buffer.from(text);
  const own = { 'content-type': 'application/xml', 'content-length': String(bytes.length) };
  const response = writeHead(call, status, { ...headers, ...own });
  response.end(call.request.method === 'HEAD' ? undefined : bytes);
}

async function answer(options: GatewayOptions, call: Call): Promise<void> {
  const { buckets, clock, keys } = options;
  const { headers, method = '', url = '' } = call.request;
  const host = (headers.host ?? '')
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '');
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  if (!path.startsWith('/')) throw new S3Error('InvalidURI', 'The URI must be a path.');
  const pairs = queryPairs(query);
  if (keys) checkSignature({ method, path, query, headers }, keys, clock.nowMs(), pairs);
  else checkHost(host);
  if (method !== 'GET' && method !== 'HEAD')
    throw new S3Error('AccessDenied', 'This endpoint is read-only: push to the repository with Dray.');
  const parameters = new Map(pairs);
  const [bucketName, key] = split(buckets, decodeUri(path), host);
  if (bucketName === '' && key === '') return sendXml(call, 200, listBuckets(buckets));
  const bucket = buckets.get(bucketName);
  if (!bucket) throw new S3Error('NoSuchBucket', `There is no bucket ${bucketName}.`);
  for (const name of parameters.keys())
    if (!KNOWN_PARAMETERS.has(name) && !/^(?:x-amz-|response-)/i.test(name))
      throw new S3Error('NotImplemented', `This endpoint does not know the parameter ${name}.`);
  if (key !== '') return answerKey(call, bucket, key, parameters);
  if (method === 'HEAD') return void writeHead(call, 200, { 'x-amz-bucket-region': REGION }).end();
  if (parameters.has('location')) return sendXml(call, 200, `${XML}<LocationConstraint ${NAMESPACE}/>`);
  if (parameters.has('versioning'))
    return sendXml(call, 200, `${XML}<VersioningConfiguration ${NAMESPACE}/>`);
  sendXml(call, 200, await answerList(bucket, parameters));
}

/** A page of the web that calls its own name this machine could otherwise read what needs no signature. */
function checkHost(host: string): void {
  if (host === '' || isLoopback(host) || host.endsWith(LOCAL_HOST)) return;
  throw new S3Error(
    'AccessDenied',
    'Without signatures, this endpoint answers to names of this machine only.',
  );
}

/**
 * The bucket is the first part of the path, or the name before `.localhost`. A gateway with another name of
 * several parts may have a bucket that is called as the first of them.
 */
function split(
  buckets: GatewayOptions['buckets'],
  path: string,
  host: string,
): readonly [bucket: string, key: string] {
  const label = host.endsWith(LOCAL_HOST) ? host.slice(0, -LOCAL_HOST.length) : '';
  if (buckets.has(label)) return [label, path.slice(1)];
  const slash = path.indexOf('/', 1);
  return slash < 0 ? [path.slice(1), ''] : [path.slice(1, slash), path.slice(slash + 1)];
}

async function answerKey(
  call: Call,
  bucket: Bucket,
  key: string,
  parameters: ReadonlyMap<string, string>,
): Promise<void> {
  const { request, response, signal } = call;
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) throw new S3Error('KeyTooLongError', 'The key is too long.');
  const located = await bucket.locate(key);
  const entry = located && (await located.version.find(located.path, { signal }));
  if (!located || !entry || entry.kind === 'link') throw new S3Error('NoSuchKey', `There is no key ${key}.`);
  const { headers, range, status } = answerObject(located.path, entry, request.headers, parameters);
  if (request.method === 'HEAD' || !range || entry.kind !== 'file' || range.start === range.end) {
    writeHead(call, status, headers).end();
    return;
  }
  await sendFile(response, located, {
    entry,
    range,
    signal,
    head: () => writeHead(call, status, headers),
  });
}

async function sendFile(
  response: ServerResponse,
  { version }: Located,
  {
    entry,
    head,
    range,
    signal,
  }: {
    readonly entry: Parameters<Located['version']['read']>[0];
    readonly range: { readonly start: number; readonly end: number };
    readonly signal: AbortSignal;
    readonly head: () => void;
  },
): Promise<void> {
  let left = range.end - range.start;
  for await (const bytes of version.read(entry, range, { signal })) {
    // Not before the first bytes are there: until then a failure can be told.
    if (!response.headersSent) head();
    left -= bytes.length;
    if (left === 0) response.end(bytes);
    else if (!response.write(bytes)) await once(response, 'drain', { signal });
  }
  if (left > 0) throw new DrayError('damaged', `${entry.path} is shorter than its commit says.`);
}

function listBuckets(buckets: GatewayOptions['buckets']): string {
  const names = [...buckets.keys()].map((name) => {
    const text = `<Name>${escapeXml(name)}</Name><CreationDate>1970-01-01T00:00:00.000Z</CreationDate>`;
    return `<Bucket>${text}</Bucket>`;
  });
  const owner = '<Owner><ID>dray</ID><DisplayName>dray</DisplayName></Owner>';
  return `${XML}<ListAllMyBucketsResult ${NAMESPACE}>${owner}<Buckets>${names.join('')}</Buckets></ListAllMyBucketsResult>`;
}
