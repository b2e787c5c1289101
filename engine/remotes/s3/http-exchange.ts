/**
 * HTTP exchanges over a pool of kept-alive connections (undici): small answers whole in memory, large ones as a
 * stream that holds the sender back. Written against undici's dispatch interface, which spares a Node stream for
 * each request. Errors leave here as undici and Node threw them; `s3-errors.ts` translates.
 */
import type { Dispatcher, Pool } from 'undici';
import { checkAborted } from '../../base/abort.ts';
import { ByteQueue } from './byte-queue.ts';

export const CONNECT_TIMEOUT_MS = 10_000;
/** Until the first byte of an answer, counted anew with each piece of a body that is sent. */
export const HEADERS_TIMEOUT_MS = 60_000;
/** Between two pieces of an answer's body. */
export const BODY_IDLE_TIMEOUT_MS = 60_000;

/** A larger body is sent in pieces, so that the time-out for the answer starts anew with each. */
const SEND_WHOLE_BELOW_BYTES = 1024 * 1024;
const SEND_PIECE_BYTES = 256 * 1024;

export interface HttpRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** For the answer of an `exchange`, if it fits; left alone once that has ended. */
  readonly into?: Uint8Array;
  readonly signal: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface HttpTransport {
  /** The answer whole. A body above `maxBytes` ends the exchange with an AnswerTooLarge error. */
  exchange(request: HttpRequest, maxBytes: number): Promise<HttpAnswer & { readonly bytes: Uint8Array }>;
  /** Resolves with the headers. The body must be read to its end or destroyed. */
  stream(request: HttpRequest): Promise<HttpAnswer & { readonly body: ByteQueue }>;
  close(): Promise<void>;
}

export class AnswerTooLarge extends Error {
  readonly sizeBytes: number;
  constructor(sizeBytes: number) {
    super('The answer is larger than allowed.');
    this.sizeBytes = sizeBytes;
  }
}

export async function openHttpTransport(origin: URL, connections: number): Promise<HttpTransport> {
  const { default: PoolClass } = await import('undici/lib/dispatcher/pool.js');
  const pool = new PoolClass(origin, {
    connections,
    connectTimeout: CONNECT_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_IDLE_TIMEOUT_MS,
    // One request at a time on a connection: a slow answer must not hold up another.
    pipelining: 1,
    allowH2: false,
  });
  return {
    exchange: (request, maxBytes) =>
      new Promise((resolve, reject) => {
        let answer: HttpAnswer;
        let collector: Collector;
        start(pool, request, {
          onAnswer: (head, abort) => {
            answer = head;
            const announcedBytes = lengthOf(request.method, head);
            collector = new Collector({ announcedBytes, maxBytes, into: request.into, abort });
          },
          onData: (chunk) => collector.push(chunk),
          onEnd: () => resolve({ ...answer, bytes: collector.bytes() }),
          onError: reject,
        });
      }),
    stream: (request) =>
      new Promise((resolve, reject) => {
        let body: ByteQueue | undefined;
        start(pool, request, {
          onAnswer: (head, abort, controller) => {
            body = new ByteQueue({
              pause: () => controller.pause(),
              resume: () => controller.resume(),
              abort,
            });
            resolve({ ...head, body });
          },
          onData: (chunk) => body?.push(chunk),
          onEnd: () => body?.end(),
          onError: (error) => (body ? body.fail(error) : reject(error)),
        });
      }),
    close: () => pool.destroy(),
  };
}

interface Exchange {
  onAnswer(
    answer: HttpAnswer,
    abort: (reason: Error) => void,
    controller: Dispatcher.DispatchController,
  ): void;
  onData(chunk: Uint8Array): void;
  onEnd(): void;
  /** Called at most once, and nothing after it. */
  onError(error: unknown): void;
}

function start(pool: Pool, request: HttpRequest, exchange: Exchange): void {
  const { signal } = request;
  checkAborted(signal);
  let controller: Dispatcher.DispatchController | undefined;
  let isOver = false;
  const finish = (error?: unknown) => {
    if (isOver) return;
    isOver = true;
    signal?.removeEventListener('abort', onAbort);
    if (error === undefined) exchange.onEnd();
    else exchange.onError(error);
  };
  const abort = (reason: Error) => {
    // The caller hears at once, also while the request still waits for a connection.
    finish(reason);
    controller?.abort(reason);
  };
  const onAbort = () => abort(new DOMException('Stopped on request.', 'AbortError'));
  signal?.addEventListener('abort', onAbort, { once: true });
  const { body } = request;
  const isLarge = body !== undefined && body.byteLength >= SEND_WHOLE_BELOW_BYTES;
  const options: Dispatcher.DispatchOptions = {
    method: request.method,
    path: request.path,
    headers: body
      ? { ...request.headers, 'content-length': String(body.byteLength) }
      : { ...request.headers },
    // undici would close the connection after each HEAD, for servers that send a body with it. S3's do not.
    reset: false,
    // Typed too narrowly by undici, which documents iterables.
    body: (isLarge ? piecesOf(body) : (body ?? null)) as Uint8Array | null,
  };
  try {
    pool.dispatch(options, {
      onRequestStart(started) {
        controller = started;
        if (isOver) started.abort(new DOMException('Stopped on request.', 'AbortError'));
      },
      onResponseStart(started, status, headers) {
        if (status >= 200 && !isOver) exchange.onAnswer({ status, headers }, abort, started);
      },
      onResponseData(_controller, chunk) {
        if (!isOver) exchange.onData(chunk);
      },
      onResponseEnd: () => finish(),
      onResponseError: (_controller, error) => finish(error),
    });
  } catch (error) {
    finish(error);
  }
}

/** Fills one buffer of the announced length, so that the bytes are copied once. */
class Collector {
  readonly #maxBytes: number;
  readonly #abort: (reason: Error) => void;
  #buffer: Uint8Array;
  #length = 0;

  constructor(options: {
    readonly announcedBytes: number | undefined;
    readonly maxBytes: number;
    readonly into: Uint8Array | undefined;
    readonly abort: (reason: Error) => void;
  }) {
    const { announcedBytes, maxBytes, into, abort } = options;
    this.#maxBytes = maxBytes;
    this.#abort = abort;
    const isTooLarge = announcedBytes !== undefined && announcedBytes > maxBytes;
    const wantedBytes = isTooLarge ? 0 : (announcedBytes ?? 0);
    this.#buffer = into && wantedBytes <= into.byteLength ? into : allocate(wantedBytes);
    if (isTooLarge) abort(new AnswerTooLarge(announcedBytes));
  }

  push(chunk: Uint8Array): void {
    const length = this.#length + chunk.byteLength;
    if (length > this.#maxBytes) {
      this.#abort(new AnswerTooLarge(length));
      return;
    }
    if (length > this.#buffer.byteLength) {
      const larger = allocate(Math.max(length, this.#buffer.byteLength * 2));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** Not zero-filled, and not from Node's shared pool: the caller may transfer it to a thread. */
function allocate(sizeBytes: number): Uint8Array {
  const buffer = Buffer.allocUnsafeSlow(sizeBytes);
  return new Uint8Array(buffer.buffer, buffer.byteOffset, sizeBytes);
}

function lengthOf(method: string, answer: HttpAnswer): number | undefined {
  // The length in the answer to a HEAD is the object's.
  if (method === 'HEAD') return 0;
  const header = answer.headers['content-length'];
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += SEND_PIECE_BYTES)
    yield bytes.subarray(at, at + SEND_PIECE_BYTES);
}
