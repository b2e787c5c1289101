/** What both clients share about one remote: where it is now, who signs, and how one lean request is sent. */
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
import { createSigner, encodeKey, encodeQuery, type Signer, type UnsignedRequest } from './s3-signer.ts';

/** Shared by the lean client and the SDK's, so that either one's discovery of the region serves both. */
export interface S3Connection {
  place: S3Place;
  readonly credentials: CredentialSource;
  readonly maxConnections: number;
  readonly clockOffsetMs: number;
  /** PEM: whose certificates are trusted, instead of those that Node trusts. */
  readonly authorities?: string | undefined;
  /** Told of bytes as they go, either way. */
  readonly onWire?: ((bytes: number) => void) | undefined;
}

type RequestBase = ReturnType<typeof requestBaseOf>;

/** An error's XML is small; more is not an error of S3. */
const ERROR_BODY_MAX_BYTES = 256 * 1024;
const SLOW_DOWN_PAUSE_MAX_MS = 120_000;

export interface LeanRequest {
  readonly call: S3Call;
  readonly method: UnsignedRequest['method'];
  /** In full, with the remote's prefix; absent for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** For `x-amz-content-sha256`: `UNSIGNED-PAYLOAD`, or the body's SHA-256 in hex. */
  readonly payloadHash: string;
  readonly body?: Uint8Array;
  /** For the answer's bytes, if they fit. */
  readonly into?: Uint8Array;
  /** For the body of an answer that is streamed. */
  readonly memory?: BodyMemory;
  /** How long no byte may come. Default: the transport's quiet time. */
  readonly quietMs?: number;
  readonly signal: AbortSignal | undefined;
}

export type LeanAnswer<Body> =
  | (HttpAnswer & Body & { readonly failure?: never })
  | { readonly failure: S3Failure };

export interface LeanClient {
  /** An answer of the store that is no success comes back as `failure`. Network trouble throws. */
  exchange(request: LeanRequest, maxBytes: number): Promise<LeanAnswer<{ readonly bytes: Uint8Array }>>;
  stream(request: LeanRequest): Promise<LeanAnswer<{ readonly body: ByteQueue }>>;
  close(): Promise<void>;
}

export function createLeanClient(connection: S3Connection): LeanClient {
  let transport: { readonly origin: URL; readonly opening: Promise<HttpTransport> } | undefined;
  /** What was sent before the store named another region may be under way still. */
  let former: Promise<HttpTransport> | undefined;
  let signer: Signer | undefined;
  let known: { readonly place: S3Place; readonly base: RequestBase } | undefined;

  const { authorities, maxConnections, onWire } = connection;
  const transportTo = (origin: URL): Promise<HttpTransport> => {
    // Nearly always the very same object: an origin is put together from its parts each time that it is asked for.
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

  /** Signs and sends; once more when the store says that the bucket is in another region. */
  const send = async <T extends HttpAnswer>(
    request: LeanRequest,
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
      ) as Promise<LeanAnswer<{ bytes: Uint8Array }>>,
    stream: (request) =>
      send(
        request,
        (to, http) => to.stream(http),
        (answer) => collectError(answer.body),
      ) as Promise<LeanAnswer<{ body: ByteQueue }>>,
    close: async () => {
      const open = [former, transport?.opening];
      former = undefined;
      transport = undefined;
      for (const opening of open) await (await opening)?.close();
    },
  };
}

/**
 * Follows the store's word on the bucket's region. False when that is the one that was `asked`. Of requests that were under way together, the
 * first may have been followed already.
 */
export function moveTo(connection: S3Connection, failure: S3Failure, asked: S3Place): boolean {
  const { place } = connection;
  const isRedirection =
    [301, 307, 400].includes(failure.status) || failure.code === 'AuthorizationHeaderMalformed';
  if (!isRedirection || failure.region === undefined || failure.region === asked.region) return false;
  // The region becomes a part of the host that the next request is signed for and sent to.
  if (!isRegion(failure.region)) return false;
  if (failure.region !== place.region) connection.place = { ...place, region: failure.region };
  return true;
}

export function failedCall(failure: S3Failure, call: S3Call, connection: S3Connection): DrayError {
  return translateFailure(failure, call, connection.place);
}

function unsignedRequest(request: LeanRequest, base: RequestBase): UnsignedRequest {
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
 * Google unpacks what is stored with `Content-Encoding: gzip` for who does not accept that, and then tells neither its length nor takes ranges of it
 * (https://cloud.google.com/storage/docs/transcoding). Other stores are not asked so: some pack plain objects then. Not signed, as Google's
 * front end changes the header before the signature is looked at.
 */
function storedFormHeaders({ key, method, query }: LeanRequest, { hostname }: URL): Record<string, string> {
  // A list may not come packed: nothing here would unpack it.
  const isRead = key !== undefined && query === undefined && (method === 'GET' || method === 'HEAD');
  return isRead && hostname.endsWith('.googleapis.com') ? { 'accept-encoding': 'gzip' } : {};
}

/** Without what is there for the signature alone. */
function unsignedHeaders({ headers, host }: UnsignedRequest): Record<string, string> {
  const { 'x-amz-content-sha256': _, ...rest } = headers;
  return { ...rest, host };
}

export function failureOf(answer: HttpAnswer, body: Uint8Array, signedTimeMs: number): S3Failure {
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

/** For who accepts packed objects an error may come packed as well. */
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
