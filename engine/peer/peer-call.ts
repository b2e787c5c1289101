/** One request to a peer while it is handled: its parameters, its body, and the forms of answers. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMarkedAsUntransferable } from 'node:worker_threads';
import * as v from 'valibot';
import { DrayError, type ErrorCode, type ErrorRecord, toErrorRecord } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import type { LeasedMemory } from '../base/leased-memory.ts';
import { PEER_HEADER, PEER_LIMITS, PEER_PROTOCOL, READ_ONLY_MESSAGE } from '../peer-protocol/messages.ts';
import type { PeerPatience } from './peer-patience.ts';

export interface PeerCall {
  readonly method: string;
  /** Parts of the URL's path after `/v1`. */
  readonly route: readonly string[];
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
  readonly patience: PeerPatience;
}

/** A refusal by HTTP's own rules, not the engine's. */
export class PeerRefusal extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly data: ErrorRecord['data'];
  constructor(status: number, code: ErrorCode, message: string, data: ErrorRecord['data'] = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

/** The same refusal for every write, so that the client does not try the next file. */
export function readOnlyRefusal(): PeerRefusal {
  return new PeerRefusal(403, 'accessDenied', READ_ONLY_MESSAGE, { reason: 'readOnly' });
}

const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  usage: 400,
  accessDenied: 403,
  notFound: 404,
  bucketMissing: 404,
  conflict: 409,
  unsafePath: 422,
  checksumRefused: 422,
  damaged: 422,
  slowDown: 503,
  unsupported: 501,
  diskFull: 507,
  aborted: 503,
};
/** For refusals of the file system: the request does not fit what is there. The server has not failed. */
const CODE_OF_ERRNO: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'notFound',
  ENOTDIR: 'notFound',
  ENAMETOOLONG: 'notFound',
  EISDIR: 'conflict',
  EEXIST: 'conflict',
  ENOTEMPTY: 'conflict',
  EACCES: 'accessDenied',
  EPERM: 'accessDenied',
  EROFS: 'accessDenied',
  ELOOP: 'unsafePath',
};
/** Statuses for items that exist but cannot be read as files. Such a request is not a server failure. */
const STATUS_OF_REASON: Readonly<Record<string, number>> = {
  changedWhileRead: 409,
  notAFile: 409,
  wrongSize: 409,
  vanished: 404,
};
const STATUS_UNFORESEEN = 500;

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  answerJsonText(response, status, JSON.stringify(value));
}

export function answerJsonText(response: ServerResponse, status: number, json: string): void {
  const text = Buffer.from(json);
  response.writeHead(status, {
    [PEER_HEADER.protocol]: PEER_PROTOCOL,
    'content-type': 'application/json',
    'content-length': text.length,
    'cache-control': 'no-store',
  });
  response.end(text);
}

/** JSON followed by bytes in one body; `headBytes` says where the bytes begin. */
export function answerBatch(
  response: ServerResponse,
  head: unknown,
  contents: { readonly pieces: readonly Uint8Array[]; readonly sizeBytes: number },
): void {
  const text = Buffer.from(JSON.stringify(head));
  response.writeHead(200, {
    [PEER_HEADER.protocol]: PEER_PROTOCOL,
    [PEER_HEADER.headBytes]: text.length,
    'content-type': 'application/octet-stream',
    'content-length': text.length + contents.sizeBytes,
    'cache-control': 'no-store',
  });
  response.write(text);
  for (const piece of contents.pieces) response.write(piece);
  response.end();
}

/** An answer that has begun can only be cut off: the client sees that it is short. */
export async function answerError(
  { request, response }: Pick<PeerCall, 'request' | 'response'>,
  error: unknown,
): Promise<void> {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = statusOf(error);
  const record = recordOf(error);
  // A small body arrives with its head, a moment later. The rest of a large one is not awaited.
  if (isUnread(request)) await nextTurn();
  // A client without the right token keeps no connection.
  if (isUnread(request) || status === 401 || status === 429) response.setHeader('connection', 'close');
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  if (status === 429 || status === 503) response.setHeader('retry-after', '1');
  if (request.method === 'HEAD') setErrorHeader(response, record);
  answerJson(response, status, { error: record });
}

/** Headers must stay small. Without this header the client judges by the status. */
const ERROR_HEADER_CHARACTERS_MAX = 8 * 1024;

function setErrorHeader(response: ServerResponse, { code, message, retry }: ErrorRecord): void {
  const text = encodeURIComponent(JSON.stringify({ error: { code, message, retry } }));
  if (text.length <= ERROR_HEADER_CHARACTERS_MAX) response.setHeader(PEER_HEADER.error, text);
}

/**
 * Another process may remove or replace a file between two steps of a call. The file system's error then
 * concerns the request and is not a server failure. Its text names paths of this machine, so it is not passed
 * on.
 */
export function asRefusal(error: unknown): unknown {
  const { code: errno = '', syscall } = error as NodeJS.ErrnoException;
  const code = syscall === undefined ? undefined : CODE_OF_ERRNO[errno];
  if (code === undefined || error instanceof DrayError) return error;
  const message = `The file or folder cannot be used, or it changed during the request (${errno}). Try again.`;
  return new DrayError(code, message, { data: { errno }, cause: error });
}

function statusOf(error: unknown): number {
  if (error instanceof PeerRefusal) return error.status;
  if (!(error instanceof DrayError)) return STATUS_UNFORESEEN;
  const { errno, reason, systemCode } = error.data;
  return (
    STATUS[error.code] ??
    STATUS_OF_REASON[String(reason)] ??
    STATUS[CODE_OF_ERRNO[String(errno ?? systemCode)] ?? 'internal'] ??
    // Another writer works on the same object. The client tries again.
    (error.retry === 'no' ? STATUS_UNFORESEEN : 503)
  );
}

function recordOf(error: unknown): ErrorRecord {
  if (error instanceof PeerRefusal)
    return {
      code: error.code,
      message: error.message,
      retry: error.status === 429 ? 'backoff' : 'no',
      data: error.data,
    };
  const record = toErrorRecord(error);
  // Internal errors are for the server's operator only.
  return record.code === 'internal'
    ? { ...record, message: 'The peer failed. Its log has the cause.' }
    : record;
}

/** Resolves when the client has taken what it was sent. @throws AbortError if it disconnects. */
export async function drained({ response, signal }: PeerCall): Promise<void> {
  await once(response, 'drain', { signal });
}

/** Resolves when the whole answer was taken, or the client is gone. */
export async function sent({ response, signal }: PeerCall): Promise<void> {
  if (response.writableFinished || response.destroyed) return;
  try {
    await once(response, 'finish', { signal });
  } catch {
    // The client is gone.
  }
}

export interface BodyOptions {
  readonly budget: Budget;
  readonly maxBytes: number;
  /** Shared memory that other threads can see, under the same budget. Absent: memory of its own. */
  readonly shared?: LeasedMemory;
  /** The bytes that come first, apart from the rest. */
  readonly headBytes?: number;
}

/** Its end, by `using`, frees its room in the budget. */
export interface Body extends Disposable {
  /** In a buffer of its own, so that it can move to another thread. */
  readonly bytes: Buffer;
  /** Empty unless requested. */
  readonly head: Buffer;
}

/**
 * The whole body in memory, within the budget of all requests together: a client must wait for its turn
 * before it is read. @throws PeerRefusal 411 without a length, 413 above `maxBytes`, 400 if it is cut short,
 * 408 if it stalls.
 */
export async function receiveBody(
  call: PeerCall,
  { budget, headBytes = 0, maxBytes, shared }: BodyOptions,
): Promise<Body> {
  const { request, signal } = call;
  const sizeBytes = bodyBytesOf(request);
  if (sizeBytes > maxBytes)
    throw new PeerRefusal(413, 'usage', `The body has ${sizeBytes} bytes. The limit is ${maxBytes}.`);
  if (headBytes > PEER_LIMITS.jsonBytesMax) throw tooMuchJson(headBytes, PEER_LIMITS.jsonBytesMax);
  const room = await roomFor({ budget, shared, sizeBytes: sizeBytes - headBytes, headBytes, signal });
  try {
    const head = Buffer.allocUnsafeSlow(headBytes);
    const { bytes } = room;
    let filled = 0;
    const watch = watchPace(call);
    try {
      for await (const piece of request as AsyncIterable<Buffer>) {
        if (filled + piece.length > sizeBytes) break;
        const ofHead = filled < headBytes ? piece.copy(head, filled) : 0;
        if (ofHead < piece.length) copyInto(bytes, piece.subarray(ofHead), filled + ofHead - headBytes);
        filled += piece.length;
        watch.took(piece.length);
        freeOwn(piece);
      }
    } finally {
      watch.end();
    }
    if (filled !== sizeBytes) throw new PeerRefusal(400, 'usage', 'The body ended early.');
    return { ...room, head };
  } catch (error) {
    room[Symbol.dispose]();
    throw error;
  }
}

async function roomFor({
  budget,
  headBytes,
  shared,
  signal,
  sizeBytes,
}: {
  readonly budget: Budget;
  readonly shared: LeasedMemory | undefined;
  readonly sizeBytes: number;
  /** Outside the budget. */
  readonly headBytes: number;
  readonly signal: AbortSignal;
}): Promise<Omit<Body, 'head'>> {
  if (shared) {
    const { bytes, release } = await shared.take(sizeBytes, signal);
    return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, sizeBytes), [Symbol.dispose]: release };
  }
  const permit = await budget.acquire(Math.max(1, sizeBytes + headBytes), signal);
  return { bytes: Buffer.allocUnsafeSlow(sizeBytes), [Symbol.dispose]: () => permit.release() };
}

/**
 * V8 copies to shared memory byte by byte, at a tenth of the speed, unless both start at whole words; Node's
 * own loop does not need that.
 */
function copyInto(target: Uint8Array, piece: Uint8Array, at: number): void {
  if (piece.length === 0) return;
  const { buffer, byteLength, byteOffset } = target;
  Buffer.from(buffer, byteOffset, byteLength).fill(piece, at, at + piece.length);
}

/** Smaller chunks may be in Node's shared pool. */
const FREED_BYTES_MIN = 16 * 1024;

/**
 * Frees the memory of a used chunk at once, if the chunk owns all of it. Left to the garbage collector, which
 * wakes for every 64 MiB of them, a body costs half as much CPU again.
 */
export function freeOwn({ buffer, byteLength, byteOffset }: Buffer): void {
  const isOwn = buffer instanceof ArrayBuffer && byteOffset + byteLength === buffer.byteLength;
  if (isOwn && byteLength >= FREED_BYTES_MIN && !isMarkedAsUntransferable(buffer)) buffer.transfer(0);
}

function isUnread({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

export function bodyBytesOf(request: IncomingMessage): number {
  const text = request.headers['content-length'];
  if (text === undefined) {
    if (request.headers['transfer-encoding'] === undefined) return 0;
    throw new PeerRefusal(411, 'usage', 'The body has no Content-Length.');
  }
  return Number(text);
}

const PACE_BYTES_MIN = 32 * 1024;

/** A client that sends almost nothing holds memory that others wait for. */
export function watchPace({ patience, request }: PeerCall): { took(sizeBytes: number): void; end(): void } {
  let since = 0;
  const timer = setInterval(() => {
    if (since < PACE_BYTES_MIN)
      request.destroy(new PeerRefusal(408, 'slowDown', 'The body arrives too slowly.'));
    since = 0;
  }, patience.paceMs);
  timer.unref();
  return {
    took: (sizeBytes) => {
      since += sizeBytes;
    },
    end: () => clearInterval(timer),
  };
}

/** @throws PeerRefusal 400 */
export function parseJson(bytes: Uint8Array, maxBytes: number = PEER_LIMITS.jsonBytesMax): unknown {
  if (bytes.length > maxBytes) throw tooMuchJson(bytes.length, maxBytes);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new PeerRefusal(400, 'usage', 'The body is not JSON.');
  }
}

/**
 * A body that is one JSON document. @param form The expected document, for the refusal of another one.
 * Absent: the refusal names the first fault. @throws PeerRefusal as `receiveBody`, 400 for another document
 */
export async function receiveJson<T>(
  call: PeerCall,
  {
    budget,
    form,
    schema,
  }: {
    readonly budget: Budget;
    readonly schema: v.GenericSchema<unknown, T>;
    readonly form?: string;
  },
): Promise<T> {
  using body = await receiveBody(call, { budget, maxBytes: PEER_LIMITS.jsonBytesMax });
  const parsed = v.safeParse(schema, parseJson(body.bytes));
  if (parsed.success) return parsed.output;
  const fault = form === undefined ? `is malformed: ${parsed.issues[0].message}` : `must be ${form}`;
  throw new PeerRefusal(400, 'usage', `The body ${fault}.`);
}

function tooMuchJson(sizeBytes: number, maxBytes: number): PeerRefusal {
  return new PeerRefusal(413, 'usage', `The JSON has ${sizeBytes} bytes. The limit is ${maxBytes}.`);
}
