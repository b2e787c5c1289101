/** Calls to one peer: authorisation, retries, and validation of its answers before anything uses them. */
import * as v from 'valibot';
import { DrayError, type ErrorCode, excerpt, receivedError } from '../../api/error.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createRetryBudget, type RetryPolicy, retrying } from '../../base/retry.ts';
import { PEER_HEADER, PEER_PROTOCOL } from '../../peer-protocol/messages.ts';
import { CONNECTION_REASONS } from '../http/connection-reasons.ts';
import { openHttpTransport } from '../http/http-exchange.ts';
import { AnswerTooLarge, type HttpAnswer, HttpError } from '../http/http-message.ts';
import type { HttpTransport } from '../http/http-transport.ts';
import type { PeerCheck } from './known-peers.ts';

export interface PeerAddress {
  /** `http://HOST:PORT` or `https://HOST:PORT`. */
  readonly origin: URL;
  readonly token: string;
}

export interface PeerClientOptions extends PeerAddress {
  readonly connectionsMax: number;
  /** The accepted certificate, with TLS. Absent: one that this machine's authorities have signed. */
  readonly identity?: PeerCheck;
  /** Called with bytes as they are sent or received. */
  readonly onWire?: (bytes: number) => void;
  readonly clock?: Clock;
  /** Called with each failure that is about to be retried. */
  readonly onRetry?: (error: DrayError) => void;
  readonly attemptsMax?: number;
}

export interface PeerRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** After `/v1/`, with its query. */
  readonly route: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Sent before the body. */
  readonly lead?: Uint8Array;
  readonly into?: Uint8Array;
  readonly answerBytesMax: number;
  readonly signal: AbortSignal;
}

export interface PeerAnswer {
  readonly status: number;
  readonly headers: HttpAnswer['headers'];
  readonly bytes: Uint8Array;
}

export interface PeerStream {
  readonly headers: HttpAnswer['headers'];
  /** Must be read to its end or destroyed. */
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
}

export interface PeerClient {
  /** For people: `dray://HOST:PORT`. */
  readonly address: string;
  readonly counts: PeerCounts;
  /**
   * Retried while that may help. @throws DrayError as the peer reports it, or `unreachable`, `aborted`,
   * `damaged` (not an answer of a peer).
   */
  call(request: PeerRequest): Promise<PeerAnswer>;
  /** The same with JSON both ways. */
  ask<T>(route: string, body: unknown, schema: v.GenericSchema<unknown, T>, signal: AbortSignal): Promise<T>;
  /** Once: the body's reader starts again if it breaks. */
  stream(request: Omit<PeerRequest, 'answerBytesMax' | 'into'>): Promise<PeerStream>;
  close(): Promise<void>;
}

export interface PeerCounts {
  requests: number;
  sentBytes: number;
  receivedBytes: number;
}

const ErrorBody = v.object({
  error: v.object({
    code: v.string(),
    message: v.string(),
    retry: v.picklist(['no', 'retry', 'backoff']),
    data: v.optional(v.record(v.string(), v.unknown())),
  }),
});
const JSON_BYTES_MAX = 16 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;
/** The limit of a peer's error message, in characters. */
const MESSAGE_CHARS_MAX = 1_000;

export async function openPeerClient(options: PeerClientOptions): Promise<PeerClient> {
  const { connectionsMax, origin, token } = options;
  const { identity, onWire } = options;
  const checkFingerprint = identity?.check;
  const transport = await openHttpTransport(origin, connectionsMax, { checkFingerprint, onWire });
  const address = `dray://${origin.hostname}:${origin.port || (origin.protocol === 'https:' ? 443 : 80)}`;
  /** The address that its token is saved under. */
  const peer = origin.protocol === 'https:' ? address : `${address}?tls=off`;
  const policy: RetryPolicy = {
    clock: options.clock ?? systemClock,
    attemptsMax: options.attemptsMax ?? 8,
    baseDelayMs: 100,
    maxDelayMs: 20_000,
    budget: createRetryBudget(),
    ...(options.onRetry ? { onRetry: options.onRetry } : {}),
  };
  const counts: PeerCounts = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  const authorization = `Bearer ${token}`;
  const wire = (request: Omit<PeerRequest, 'answerBytesMax'>) => {
    counts.requests += 1;
    counts.sentBytes += (request.lead?.byteLength ?? 0) + (request.body?.byteLength ?? 0);
    return {
      method: request.method,
      path: `/v${PEER_PROTOCOL}/${request.route}`,
      headers: { ...request.headers, authorization },
      ...(request.lead ? { lead: request.lead } : {}),
      ...(request.body ? { body: request.body } : {}),
      ...(request.into ? { into: request.into } : {}),
      signal: request.signal,
    };
  };

  const callOnce = async (request: PeerRequest): Promise<PeerAnswer> => {
    const wired = wire(request);
    const answer = await translating(address, request.signal, () =>
      meeting(identity, () => transport.exchange(wired, Math.max(request.answerBytesMax, ERROR_BYTES_MAX))),
    );
    counts.receivedBytes += answer.bytes.byteLength;
    checkAnswer(peer, answer, answer.bytes);
    return answer;
  };
  const call = (request: PeerRequest) => retrying(policy, request.signal, () => callOnce(request));

  return {
    address,
    counts,
    call,
    async ask(route, body, schema, signal) {
      const { bytes } = await call({
        method: 'POST',
        route,
        body: Buffer.from(JSON.stringify(body)),
        answerBytesMax: JSON_BYTES_MAX,
        signal,
      });
      return parseAnswer(address, bytes, schema);
    },
    stream: (request) => openStream({ address, peer, transport, counts, identity }, wire(request)),
    close: () => transport.close(),
  };
}

async function openStream(
  {
    address,
    counts,
    identity,
    peer,
    transport,
  }: {
    readonly address: string;
    readonly peer: string;
    readonly transport: HttpTransport;
    readonly counts: PeerCounts;
    readonly identity: PeerCheck | undefined;
  },
  request: Parameters<HttpTransport['stream']>[0],
): Promise<PeerStream> {
  const { signal } = request;
  const answer = await translating(address, signal, () => meeting(identity, () => transport.stream(request)));
  if (answer.status >= 300) checkAnswer(peer, answer, await readError(answer.body));
  try {
    checkAnswer(peer, answer, new Uint8Array());
  } catch (error) {
    answer.body.destroy();
    throw error;
  }
  async function* pieces() {
    try {
      for await (const piece of answer.body) {
        counts.receivedBytes += piece.byteLength;
        yield piece;
      }
    } catch (error) {
      throw translate(address, error, signal);
    }
  }
  const body = Object.assign(pieces(), { destroy: () => answer.body.destroy() });
  return { headers: answer.headers, body };
}

async function readError(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    sizeBytes += piece.byteLength;
    if (sizeBytes > ERROR_BYTES_MAX) break;
  }
  return Buffer.concat(pieces);
}

/** For answers whose body and headers say no more. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'accessDenied',
  403: 'accessDenied',
  404: 'notFound',
  412: 'conflict',
  422: 'unsafePath',
  429: 'slowDown',
  503: 'slowDown',
};
const RETRIES: Readonly<Record<number, 'backoff'>> = { 429: 'backoff', 503: 'backoff' };

/** @throws DrayError if it is a refusal, or not an answer of a peer at all. */
function checkAnswer(address: string, { headers, status }: HttpAnswer, bytes: Uint8Array): void {
  if (headers[PEER_HEADER.protocol] !== String(PEER_PROTOCOL))
    throw new DrayError(
      'unsupported',
      `${address} is not a Dray peer of version ${PEER_PROTOCOL}. Check the host and port, and that both ends run the same version of Dray.`,
      {
        data: { address, status },
      },
    );
  if (status < 300) return;
  const parsed = v.safeParse(ErrorBody, tryJson(bytes) ?? errorInHeader(headers[PEER_HEADER.error]));
  if (!parsed.success)
    throw new DrayError(CODES[status] ?? 'remoteFailed', `${address} answered with HTTP ${status}.`, {
      retry: RETRIES[status] ?? (status >= 500 ? 'retry' : 'no'),
      data: { address, status },
    });
  const { code, data, message, retry } = receivedError(parsed.output.error);
  throw new DrayError(code, message.slice(0, MESSAGE_CHARS_MAX), {
    retry,
    data: { ...data, address, status },
  });
}

export function parseAnswer<T>(address: string, bytes: Uint8Array, schema: v.GenericSchema<unknown, T>): T {
  const parsed = v.safeParse(schema, tryJson(bytes));
  if (parsed.success) return parsed.output;
  throw new DrayError(
    'damaged',
    `${address} sent an invalid answer (${excerpt(parsed.issues[0].message)}).`,
    {
      data: { address },
    },
  );
}

/** An answer to HEAD has no body. */
function errorInHeader(text: HttpAnswer['headers'][string]): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(decodeURIComponent(text));
  } catch {
    return undefined;
  }
}

function tryJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}

async function translating<T>(
  address: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translate(address, error, signal);
  }
}

/**
 * Dray ends the first connection to a new peer before it sends a byte. Once the peer is trusted, it sends the
 * same request again.
 */
async function meeting<T>(identity: PeerCheck | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isNew = error instanceof DrayError && error.code === 'unknownPeer';
    if (!identity || !isNew) throw error;
    await identity.meet(String(error.data.fingerprint));
    return work();
  }
}

/** A retry would not help. */
const FINAL: ReadonlySet<string | undefined> = new Set(['HTTP_MALFORMED', 'HTTP_NO_TLS', 'HTTP_WANTS_TLS']);

/** By code: what to do at a command line. */
const ADVICE: Readonly<Record<string, (address: string) => string>> = {
  HTTP_NO_TLS: (address) =>
    `Start "dray serve" there without --tls off, or write ${address}?tls=off if you trust the network.`,
  HTTP_WANTS_TLS: (address) => `Remove ?tls=off from the URL: ${address}.`,
};

function translate(address: string, error: unknown, signal: AbortSignal | undefined): DrayError {
  if (error instanceof DrayError) return error;
  if (error instanceof AnswerTooLarge)
    return new DrayError(
      'damaged',
      `${address} sends ${error.sizeBytes} bytes, more than Dray accepts here.`,
      {
        data: { address },
        cause: error,
      },
    );
  if (signal?.aborted || (error instanceof Error && error.name === 'AbortError'))
    return new DrayError('aborted', 'Stopped on request.', { cause: error });
  const code = error instanceof HttpError ? error.code : (error as NodeJS.ErrnoException)?.code;
  const reason =
    (code && CONNECTION_REASONS[code]) ?? (error instanceof Error ? error.message : String(error));
  const advice = (code && ADVICE[code]?.(address)) ?? '';
  return new DrayError('unreachable', `${address} cannot be reached: ${reason}${code ? ` (${code})` : ''}.`, {
    advice,
    retry: FINAL.has(code) ? 'no' : 'retry',
    data: { address, ...(code ? { systemCode: code } : {}) },
    cause: error,
  });
}

export function malformedAnswer({ address }: PeerClient): DrayError {
  return new DrayError('damaged', `${address} sent an invalid answer.`, { data: { address } });
}

export function isNotFound(error: unknown): boolean {
  return error instanceof DrayError && error.code === 'notFound';
}
