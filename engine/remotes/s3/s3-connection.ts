/**
 * The connection to one bucket: its place, its keys, and the way of one request, which is signed, sent, and
 * redirected once.
 */
import { gunzipSync } from 'node:zlib';
import type { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { ByteQueue } from '../http/byte-queue.ts';
import { openHttpTransport } from '../http/http-exchange.ts';
import type { HttpAnswer } from '../http/http-message.ts';
import type { HttpTransport } from '../http/http-transport.ts';
import type { BodyMemory } from '../object-store.ts';
import { type S3Call, type S3Failure, translateFailure, translateThrown } from './answers/s3-errors.ts';
import { parseErrorBody } from './answers/s3-xml.ts';
import type { CredentialSource } from './keys/credentials.ts';
import { isRegion } from './s3-grammar.ts';
import { requestBaseOf, type S3Place } from './s3-options.ts';
import { createSigner, encodeQuery, type Signer, type UnsignedRequest } from './s3-signer.ts';
import { encodeKey } from './signature.ts';

/** `place` changes when the store names another region. */
export interface S3Connection {
  place: S3Place;
  readonly credentials: CredentialSource;
  readonly maxConnections: number;
  readonly clockOffsetMs: number;
  /** PEM: the authorities to trust in place of Node's. */
  readonly authorities?: string | undefined;
  /** Called with the bytes of each read and write. */
  readonly onWire?: ((bytes: number) => void) | undefined;
}

type RequestBase = ReturnType<typeof requestBaseOf>;

/** An error's XML is small; a larger answer is not S3's. */
const ERROR_BODY_MAX_BYTES = 256 * 1024;
const SLOW_DOWN_PAUSE_MAX_MS = 120_000;

export interface S3Request {
  readonly call: S3Call;
  readonly method: UnsignedRequest['method'];
  /** In full, with the remote's prefix. Absent for calls about the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** For `x-amz-content-sha256`: `UNSIGNED-PAYLOAD`, or the body's SHA-256 in hex. */
  readonly payloadHash: string;
  readonly body?: Uint8Array;
  /** Receives the answer's bytes if they fit. */
  readonly into?: Uint8Array;
  /** Receives the body of a streamed answer. */
  readonly memory?: BodyMemory;
  /** How long the server may stay silent. Default: the transport's quiet time. */
  readonly quietMs?: number;
  readonly signal: AbortSignal | undefined;
}

export type S3Answer<Body> =
  | (HttpAnswer & Body & { readonly failure?: never })
  | { readonly failure: S3Failure };

export interface S3Sender {
  /** An error answer of the store comes back as `failure`. Network trouble throws a DrayError. */
  exchange(request: S3Request, maxBytes: number): Promise<S3Answer<{ readonly bytes: Uint8Array }>>;
  stream(request: S3Request): Promise<S3Answer<{ readonly body: ByteQueue }>>;
  close(): Promise<void>;
}

export function createS3Sender(connection: S3Connection): S3Sender {
  let transport: { readonly origin: URL; readonly opening: Promise<HttpTransport> } | undefined;
  /** Requests that began before the store named another region may still use it. */
  let former: Promise<HttpTransport> | undefined;
  let signer: Signer | undefined;
  let known: { readonly place: S3Place; readonly base: RequestBase } | undefined;

  const { authorities, maxConnections, onWire } = connection;
  const transportTo = (origin: URL): Promise<HttpTransport> => {
    // Usually the same object. Comparing those first matters: `origin` is joined from its parts at each use.
    if (transport?.origin !== origin && transport?.origin.origin !== origin.origin) {
      if (former) void former.then((old) => old.close());
      former = transport?.opening;
      transport = { origin, opening: openHttpTransport(origin, maxConnections, { authorities, onWire }) };
    }
    return transport.opening;
  };

  const baseOf = (place: S3Place): RequestBase => {
    if (known?.place !== place) known = { place, base: requestBaseOf(place) };
    return known.base;
  };

  /** Signs and sends a request, and again when the store names another region for the bucket. */
  const send = async <T extends HttpAnswer>(
    request: S3Request,
    run: (transport: HttpTransport, http: Parameters<HttpTransport['exchange']>[0]) => Promise<T>,
    bytesOf: (answer: T) => Promise<Uint8Array>,
  ): Promise<T | { failure: S3Failure }> => {
    try {
      for (let isRedirected = false; ; isRedirected = true) {
        checkAborted(request.signal);
        const { place } = connection;
        const base = baseOf(place);
        const to = await transportTo(base.origin);
        const unsigned = unsignedRequest(request, base);
        const signedTimeMs = Date.now() + connection.clockOffsetMs;
        signer ??= createSigner(connection);
        const headers = place.isAnonymous ? unsignedHeaders(unsigned) : await signer(unsigned, place.region);
        Object.assign(headers, storedFormHeaders(request, base.origin));
        const path = unsigned.query === '' ? unsigned.path : `${unsigned.path}?${unsigned.query}`;
        const { method, body, into, memory, quietMs, signal } = request;
        const http = {
          ...{ method, path, headers, signal },
          ...(body ? { body } : {}),
          ...(into ? { into } : {}),
          ...(memory ? { memory } : {}),
          ...(quietMs === undefined ? {} : { quietMs }),
        };
        const answer = await run(to, http);
        if (answer.status >= 200 && answer.status < 300) return answer;
        const failure = failureOf(answer, await bytesOf(answer), signedTimeMs);
        if (isRedirected || !moveTo(connection, failure, place)) return { failure };
      }
    } catch (error) {
      throw translateThrown(error, request.call, connection.place, request.signal);
    }
  };

  return {
    exchange: (request, maxBytes) =>
      send(
        request,
        (to, http) => to.exchange(http, Math.max(maxBytes, ERROR_BODY_MAX_BYTES)),
        async (answer) => answer.bytes,
      ) as Promise<S3Answer<{ bytes: Uint8Array }>>,
    stream: (request) =>
      send(
        request,
        (to, http) => to.stream(http),
        (answer) => collectError(answer.body),
      ) as Promise<S3Answer<{ body: ByteQueue }>>,
    close: async () => {
      const open = [former, transport?.opening];
      former = undefined;
      transport = undefined;
      for (const opening of open) await (await opening)?.close();
    },
  };
}

/**
 * Moves the connection to the region that the store named. False when the request went there already. Of
 * several requests at once, the first may have moved it before.
 */
export function moveTo(connection: S3Connection, failure: S3Failure, asked: S3Place): boolean {
  const { place } = connection;
  const isRedirection =
    [301, 307, 400].includes(failure.status) || failure.code === 'AuthorizationHeaderMalformed';
  if (!isRedirection || failure.region === undefined || failure.region === asked.region) return false;
  // The region becomes a part of the next request's host, so it must be one.
  if (!isRegion(failure.region)) return false;
  if (failure.region !== place.region) connection.place = { ...place, region: failure.region };
  return true;
}

export function failedCall(failure: S3Failure, call: S3Call, connection: S3Connection): DrayError {
  return translateFailure(failure, call, connection.place);
}

function unsignedRequest(request: S3Request, base: RequestBase): UnsignedRequest {
  const path = request.key === undefined ? `${base.path}/` : `${base.path}/${encodeKey(request.key)}`;
  return {
    method: request.method,
    host: base.origin.host,
    path: request.key === undefined && base.path !== '' ? base.path : path,
    query: request.query ? encodeQuery(request.query) : '',
    headers: { ...request.headers, 'x-amz-content-sha256': request.payloadHash },
  };
}

/**
 * Google unpacks objects of `Content-Encoding: gzip` for clients that do not accept it, and then gives no
 * length and serves no ranges (https://cloud.google.com/storage/docs/transcoding). Other stores get no such
 * header: some would pack plain objects. It is not signed, as Google's front end changes it before the
 * signature is checked.
 */
function storedFormHeaders({ key, method, query }: S3Request, { hostname }: URL): Record<string, string> {
  // Nothing here unpacks a list.
  const isRead = key !== undefined && query === undefined && (method === 'GET' || method === 'HEAD');
  return isRead && hostname.endsWith('.googleapis.com') ? { 'accept-encoding': 'gzip' } : {};
}

/** Drops the header that only a signature needs. */
function unsignedHeaders({ headers, host }: UnsignedRequest): Record<string, string> {
  const { 'x-amz-content-sha256': _, ...rest } = headers;
  return { ...rest, host };
}

function failureOf(answer: HttpAnswer, body: Uint8Array, signedTimeMs: number): S3Failure {
  const { code, message, region } = parseErrorBody(unpacked(answer, body));
  const retryAfterSeconds = Number(headerOf(answer, 'retry-after'));
  return {
    status: answer.status,
    code,
    message,
    remoteTimeMs: dateOf(answer),
    signedTimeMs,
    region: headerOf(answer, 'x-amz-bucket-region') ?? region,
    retryAfterMs:
      retryAfterSeconds > 0 ? Math.min(retryAfterSeconds * 1000, SLOW_DOWN_PAUSE_MAX_MS) : undefined,
  };
}

/** A client that accepts packed objects may get a packed error. */
function unpacked(answer: HttpAnswer, body: Uint8Array): Uint8Array {
  if (headerOf(answer, 'content-encoding') !== 'gzip') return body;
  try {
    return gunzipSync(body, { maxOutputLength: ERROR_BODY_MAX_BYTES });
  } catch {
    return body;
  }
}

export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

export function dateOf(answer: HttpAnswer): number | undefined {
  const timeMs = Date.parse(headerOf(answer, 'date') ?? '');
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

async function collectError(body: ByteQueue): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    sizeBytes += chunk.byteLength;
    if (sizeBytes > ERROR_BODY_MAX_BYTES) break;
  }
  return Buffer.concat(chunks);
}
