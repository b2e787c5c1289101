/**
 * HTTP exchanges over a pool of kept-alive connections: small answers whole in memory, large ones as a stream
 * with backpressure. Follows no redirects, and repeats only requests that a closed kept connection lost
 * (`http-pool.ts`). Errors leave here as Node threw them, or as `HttpError`; `s3-errors.ts` translates.
 */
import { checkAborted, unwatchAbort, watchAbort } from '../../base/abort.ts';
import { allocate, createBodyReceiver } from './body-receivers.ts';
import { withTlsDetection } from './detect-tls.ts';
import type { HttpExchange, HttpLimits, Route } from './http-connection.ts';
import { type AnswerReceiver, AnswerTooLarge, type HttpAnswer, type HttpRequest } from './http-message.ts';
import { HttpPool } from './http-pool.ts';
import { requestHead } from './http-request-head.ts';
import type { HttpTransport } from './http-transport.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Until the first byte of an answer, restarted while a body is being sent; and between two pieces of an
 * answer.
 */
const QUIET_TIMEOUT_MS = 60_000;

export interface HttpTransportOptions extends Pick<Route, 'authorities' | 'checkFingerprint' | 'onWire'> {
  readonly limits?: Partial<HttpLimits>;
}

/** 64 uploads at once then share 4 MiB a second. */
const SLOWEST_BYTES_PER_SECOND = 64 * 1024;

const LIMITS: HttpLimits = {
  connectMs: CONNECT_TIMEOUT_MS,
  quietMs: QUIET_TIMEOUT_MS,
  slowestBytesPerSecond: SLOWEST_BYTES_PER_SECOND,
};
const SCRATCH_BYTES = 64 * 1024;

/** @param options `limits` are for tests; the defaults are above. */
export async function openHttpTransport(
  origin: URL,
  connections: number,
  { authorities, checkFingerprint, limits, onWire }: HttpTransportOptions = {},
): Promise<HttpTransport> {
  const connectTls = origin.protocol === 'https:' ? (await import('node:tls')).connect : undefined;
  const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  const route: Route = {
    origin,
    limits: { ...LIMITS, ...limits },
    scratch,
    connectTls,
    authorities,
    checkFingerprint,
    onWire,
    tlsSession: undefined,
  };
  const { host } = origin;
  const pool = new HttpPool(route, connections);
  const transport: HttpTransport = {
    exchange: (request, maxBytes) =>
      new Promise((resolve, reject) => {
        const collector = new Collector(maxBytes, request.into);
        start(pool, host, request, collector, (error) => {
          if (error !== undefined) reject(error);
          else resolve({ ...(collector.answer as HttpAnswer), bytes: collector.bytes() });
        });
      }),
    stream: (request) =>
      new Promise((resolve, reject) => {
        const receiver = createBodyReceiver(
          request.memory,
          () => sender,
          (outcome) => {
            if ('error' in outcome) reject(outcome.error);
            else resolve({ ...outcome.answer, body: outcome.body });
          },
        );
        const sender = start(pool, host, request, receiver, (error) => receiver.end(error));
      }),
    close: async () => pool.close(),
  };
  return connectTls ? transport : withTlsDetection(transport, origin);
}

/** @param over Called once, with the error if there is one. */
function start(
  pool: HttpPool,
  host: string,
  request: HttpRequest,
  receiver: AnswerReceiver,
  over: (error?: unknown) => void,
) {
  const { signal } = request;
  checkAborted(signal);
  const head = requestHead(request, host);
  let isOver = false;
  const finish = (error?: unknown) => {
    if (isOver) return;
    isOver = true;
    if (signal) unwatchAbort(signal, onAbort);
    over(error);
  };
  const abort = (reason: Error) => {
    if (isOver) return;
    pool.cancel(exchange);
    finish(reason);
  };
  const onAbort = () => abort(new DOMException('Stopped on request.', 'AbortError'));
  const exchange: HttpExchange = {
    request,
    head,
    connection: undefined,
    begin: (answer, bodyBytes) => receiver.begin(answer, bodyBytes),
    place: (upToBytes) => receiver.place(upToBytes),
    placed: (sizeBytes) => receiver.placed(sizeBytes),
    end: () => finish(),
    fail: (error) => finish(error),
  };
  if (signal) watchAbort(signal, onAbort);
  pool.run(exchange);
  return {
    abort,
    pause: () => exchange.connection?.pause(),
    resume: () => exchange.connection?.resume(),
  };
}

/** Fills one buffer of the announced length, the caller's if it fits. */
class Collector implements AnswerReceiver {
  readonly #maxBytes: number;
  readonly #into: Uint8Array | undefined;
  #buffer: Uint8Array = EMPTY;
  #length = 0;
  answer: HttpAnswer | undefined;

  constructor(maxBytes: number, into: Uint8Array | undefined) {
    this.#maxBytes = maxBytes;
    this.#into = into;
  }

  begin(answer: HttpAnswer, bodyBytes = 0): void {
    this.answer = answer;
    this.#check(bodyBytes);
    const into = this.#into;
    this.#buffer = into && bodyBytes <= into.byteLength ? into : allocate(bodyBytes);
  }

  place(upToBytes: number): Uint8Array {
    const wantedBytes = this.#length + upToBytes;
    this.#check(wantedBytes);
    if (wantedBytes > this.#buffer.byteLength) {
      const larger = allocate(Math.max(wantedBytes, this.#buffer.byteLength * 2));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    return this.#buffer.subarray(this.#length, wantedBytes);
  }

  placed(sizeBytes: number): void {
    this.#length += sizeBytes;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #check(sizeBytes: number): void {
    if (sizeBytes > this.#maxBytes) throw new AnswerTooLarge(sizeBytes);
  }
}

const EMPTY = new Uint8Array(0);
