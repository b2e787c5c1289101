/**
 * One HTTP/1.1 connection, and the exchange running on it. Uses Node's sockets directly: the kernel writes a
 * body into its final memory, and an exchange costs about a third of what it does through `node:http` or
 * undici.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { NO_TLS_CODES } from './connection-reasons.ts';
import { AnswerReader } from './http-answer-reader.ts';
import { type AnswerReceiver, HttpError, type HttpRequest } from './http-message.ts';

export interface HttpLimits {
  /** For name lookup, connection and TLS together. */
  readonly connectMs: number;
  /** Without a byte in either direction, while one is expected. */
  readonly quietMs: number;
  /** A body that was handed over may still travel this slowly, so its answer may come later. */
  readonly slowestBytesPerSecond: number;
}

export interface HttpExchange extends AnswerReceiver {
  readonly request: HttpRequest;
  /** As sent (`requestHead`). */
  readonly head: string;
  /** The connection that it runs on. */
  connection: HttpConnection | undefined;
  end(): void;
  fail(error: unknown): void;
}

export interface ConnectionOwner {
  /** Connected, or done with an exchange; free for another. */
  onFree(connection: HttpConnection): void;
  /** Called once, and nothing after it. The owner decides about a running exchange. */
  onClosed(connection: HttpConnection, end: ConnectionEnd): void;
}

export interface ConnectionEnd {
  readonly wasConnecting: boolean;
  readonly error: unknown;
  readonly exchange: HttpExchange | undefined;
  /** Not a byte of the answer arrived. */
  readonly isUnanswered: boolean;
}

/** Shared by the connections to one origin. */
export interface Route {
  readonly origin: URL;
  readonly limits: HttpLimits;
  /** For heads of answers and for chunk framing. Its content is processed before it is written to again. */
  readonly scratch: Buffer;
  /** The TLS session of an earlier connection, which saves a round trip. */
  tlsSession: Buffer | undefined;
  /** Decides by the certificate's SHA-256 instead of its signer: a returned error ends the connection. */
  readonly checkFingerprint?: ((fingerprint: string) => Error | undefined) | undefined;
  /** PEM: trusted certificates, in place of Node's own. */
  readonly authorities?: string | undefined;
  /** Called with bytes as they are sent or received, not only after a whole body. */
  readonly onWire?: ((bytes: number) => void) | undefined;
  /** Present for https. */
  readonly connectTls: ((options: ConnectionOptions) => Socket) | undefined;
}

/** Below this, head and body are copied into one write; above, they are written from where they are. */
const COPY_BELOW_BYTES = 64 * 1024;
/** A larger body is sent in pieces, so that an early answer can stop it. */
const PIECE_BYTES = 1024 * 1024;
/**
 * TLS copies its input, and Node sees no progress within it, so one of these must get through within the
 * timeout.
 */
const TLS_PIECE_BYTES = 64 * 1024;

/**
 * TCP keep-alive for requests that may be quiet for long: routers forget silent connections, and a dead
 * server is noticed within seconds.
 */
const PROBE_AFTER_MS = 30_000;

/**
 * A body counts as sent when the kernel has it, which takes up to 4 MiB for a peer that reads nothing
 * (Linux's `tcp_wmem`); proxies take more. Of many uploads over a slow link, each may wait for long after
 * that.
 */
const BUFFERED_BYTES_MAX = 8 * 1024 * 1024;

const NOTHING = new Uint8Array(0);

export class HttpConnection {
  readonly #route: Route;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  #state: 'connecting' | 'free' | 'busy' | 'closed' = 'connecting';
  #connectTimer: NodeJS.Timeout | undefined;
  #exchange: HttpExchange | undefined;
  #reader: AnswerReader | undefined;
  #isUnanswered = true;
  #isPaused = false;
  #isSending = false;
  /** The quiet time is over, but the body may still be on its way. */
  #isExtended = false;
  /** Where the next bytes go: the scratch buffer, or a place of the receiver's. */
  #target: Uint8Array;
  #exchanges = 0;
  /** Bytes that arrived before the certificate was checked, as happens with TLS 1.2. */
  #earlySession: Buffer | undefined;

  constructor(route: Route, owner: ConnectionOwner) {
    this.#route = route;
    this.#owner = owner;
    this.#target = route.scratch;
    const onread = {
      buffer: () => this.#target,
      callback: (sizeBytes: number) => {
        this.#received(sizeBytes);
        return true;
      },
    };
    this.#socket = openSocket(route, onread);
    const { connectMs } = route.limits;
    this.#connectTimer = setTimeout(() => {
      const message = `No connection within ${connectMs} ms.`;
      this.#close(new HttpError('HTTP_CONNECT_TIMEOUT', message));
    }, connectMs);
    this.#listen();
  }

  /** The number of exchanges begun on it. */
  get exchanges(): number {
    return this.#exchanges;
  }

  /** For a free connection. */
  start(exchange: HttpExchange): void {
    this.#state = 'busy';
    this.#exchanges += 1;
    this.#exchange = exchange;
    exchange.connection = this;
    this.#reader = new AnswerReader(exchange.request.method, exchange);
    this.#isUnanswered = true;
    this.#isExtended = false;
    if (exchange.request.quietMs !== undefined) {
      this.#socket.setTimeout(this.#quietMs);
      this.#socket.setKeepAlive(true, PROBE_AFTER_MS);
    }
    this.#send(exchange);
  }

  /** From here on the memory of both bodies is not used. */
  destroy(error: unknown): void {
    this.#close(error);
  }

  /** The same without a call to the exchange. */
  abandon(): void {
    if (this.#exchange) this.#detach();
    this.#close(undefined);
  }

  pause(): void {
    if (this.#isPaused || this.#state !== 'busy') return;
    this.#isPaused = true;
    this.#socket.pause();
    // The reader causes the delay.
    this.#socket.setTimeout(0);
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.setTimeout(this.#quietMs);
    this.#socket.resume();
  }

  /** A free connection does not keep the process alive. */
  holdProcess(isHeld: boolean): void {
    if (isHeld) this.#socket.ref();
    else this.#socket.unref();
  }

  get #quietMs(): number {
    return this.#exchange?.request.quietMs ?? this.#route.limits.quietMs;
  }

  #listen(): void {
    const socket = this.#socket;
    const { connectTls } = this.#route;
    socket.once(connectTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(this.#connectTimer);
      if (this.#state !== 'connecting') return;
      const refusal = this.#checkCertificate();
      if (refusal) return this.#close(refusal);
      this.#state = 'free';
      this.#keepSession(this.#earlySession);
      socket.setTimeout(this.#route.limits.quietMs);
      this.#owner.onFree(this);
    });
    if (connectTls)
      socket.on('session', (session: Buffer) => {
        if (this.#state === 'connecting') this.#earlySession = session;
        else this.#keepSession(session);
      });
    socket.on('error', (error) => this.#close(this.#state === 'connecting' ? named(error) : error));
    socket.on('timeout', () => this.#timedOut());
    socket.on('end', () => this.#ended());
    socket.on('close', () => this.#close(new HttpError('ECONNRESET', 'The connection was closed.')));
  }

  /**
   * Only for accepted servers: when a session is resumed, neither Node nor we check the certificate again.
   */
  #keepSession(session: Buffer | undefined): void {
    if (session && this.#state !== 'closed') this.#route.tlsSession = session;
  }

  /** Before a byte of a request is sent. */
  #checkCertificate(): Error | undefined {
    const { checkFingerprint } = this.#route;
    if (!checkFingerprint) return undefined;
    const socket = this.#socket as TLSSocket;
    // A session is resumed only with the peer that it was made with, whose certificate was checked then.
    if (socket.isSessionReused()) return undefined;
    try {
      const { fingerprint256 } = socket.getPeerCertificate();
      return checkFingerprint(fingerprint256 ?? '');
    } catch (error) {
      // Not thrown: nothing catches an error that leaves the handler of a socket's event.
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #send({ head, request: { body = NOTHING, lead = NOTHING } }: HttpExchange): void {
    const socket = this.#socket;
    const bodyBytes = lead.byteLength + body.byteLength;
    if (bodyBytes === 0) {
      socket.write(head);
    } else if (bodyBytes < COPY_BELOW_BYTES) {
      const headBytes = Buffer.byteLength(head);
      const whole = Buffer.allocUnsafe(headBytes + bodyBytes);
      whole.write(head);
      whole.set(lead, headBytes);
      whole.set(body, headBytes + lead.byteLength);
      socket.write(whole);
      this.#route.onWire?.(bodyBytes);
    } else {
      this.#isSending = true;
      socket.cork();
      socket.write(head);
      if (lead.byteLength > 0) socket.write(lead);
      this.#sendFrom(body, 0);
      socket.uncork();
    }
  }

  #sendFrom(body: Uint8Array, at: number): void {
    const pieceBytes = this.#route.connectTls ? TLS_PIECE_BYTES : PIECE_BYTES;
    const end = Math.min(at + pieceBytes, body.byteLength);
    const exchange = this.#exchange;
    this.#socket.write(body.subarray(at, end), (error) => {
      if (error || this.#exchange !== exchange) return;
      this.#route.onWire?.(end - at);
      if (end === body.byteLength) this.#isSending = false;
      // A refusal is not waited for.
      else if (!this.#reader?.hasHead) this.#sendFrom(body, end);
    });
  }

  #received(sizeBytes: number): void {
    const reader = this.#reader;
    if (!reader || this.#state !== 'busy') {
      if (this.#state !== 'closed')
        this.#close(new HttpError('HTTP_MALFORMED', 'The server sent bytes without a request.'));
      return;
    }
    this.#isUnanswered = false;
    if (this.#isExtended) this.#endExtension();
    const { onWire, scratch } = this.#route;
    onWire?.(sizeBytes);
    try {
      let isExact = true;
      if (this.#target === scratch) isExact = reader.read(scratch.subarray(0, sizeBytes)) === sizeBytes;
      else reader.filled(sizeBytes);
      // The receiver may have ended the exchange.
      if (this.#reader !== reader) return;
      if (reader.isDone) this.#answered(isExact);
      else this.#target = reader.window() ?? scratch;
    } catch (error) {
      this.#close(error);
    }
  }

  #answered(isExact: boolean): void {
    const { reader, exchange } = this.#detach();
    this.#target = this.#route.scratch;
    // Bytes that the reader has yet to take are in memory.
    this.resume();
    if (exchange.request.quietMs !== undefined) this.#socket.setTimeout(this.#quietMs);
    // The rest of an unwanted body cannot be taken back.
    const isSent = !this.#isSending && this.#socket.writableLength === 0;
    const isReusable = isExact && reader.isKeptAlive && isSent;
    if (!isReusable) this.#close(undefined);
    else this.#state = 'free';
    exchange.end();
    if (isReusable && this.#state === 'free') this.#owner.onFree(this);
  }

  #detach(): { readonly reader: AnswerReader; readonly exchange: HttpExchange } {
    const reader = this.#reader as AnswerReader;
    const exchange = this.#exchange as HttpExchange;
    this.#reader = undefined;
    this.#exchange = undefined;
    exchange.connection = undefined;
    return { reader, exchange };
  }

  /** The server closed its side. */
  #ended(): void {
    const reader = this.#reader;
    if (!reader) {
      this.#close(new HttpError('ECONNRESET', 'The connection was closed.'));
      return;
    }
    try {
      reader.close();
      this.#answered(false);
    } catch (error) {
      this.#close(error);
    }
  }

  #timedOut(): void {
    if (this.#isPaused || this.#state === 'connecting') return;
    const isSilent = !this.#reader?.hasHead;
    const travelMs = this.#isExtended || !this.#isUnanswered ? 0 : this.#travelMs();
    if (travelMs > 0) {
      this.#isExtended = true;
      this.#socket.setTimeout(travelMs);
      return;
    }
    const waitedMs = this.#quietMs + (this.#isExtended ? this.#travelMs() : 0);
    const message = `Nothing arrived for ${waitedMs} ms.`;
    this.#close(new HttpError(isSilent ? 'HTTP_ANSWER_TIMEOUT' : 'HTTP_BODY_TIMEOUT', message));
  }

  /** How much longer than the quiet time a body may be on its way once the kernel has all of it. */
  #travelMs(): number {
    if (this.#isSending || !this.#exchange) return 0;
    const { body = NOTHING, lead = NOTHING } = this.#exchange.request;
    const bytes = Math.min(lead.byteLength + body.byteLength, BUFFERED_BYTES_MAX);
    return Math.ceil((bytes * 1000) / this.#route.limits.slowestBytesPerSecond);
  }

  #endExtension(): void {
    this.#isExtended = false;
    this.#socket.setTimeout(this.#quietMs);
  }

  #close(error: unknown): void {
    if (this.#state === 'closed') return;
    const wasConnecting = this.#state === 'connecting';
    this.#state = 'closed';
    clearTimeout(this.#connectTimer);
    this.#socket.destroy();
    const exchange = this.#exchange && this.#detach().exchange;
    this.#owner.onClosed(this, { wasConnecting, error, exchange, isUnanswered: this.#isUnanswered });
  }
}

function named(error: NodeJS.ErrnoException): Error {
  return NO_TLS_CODES.has(error.code) ? new HttpError('HTTP_NO_TLS', error.message) : error;
}

type OnRead = { readonly buffer: () => Uint8Array; readonly callback: (sizeBytes: number) => boolean };

function openSocket(
  { authorities, checkFingerprint, connectTls, origin, tlsSession }: Route,
  onread: OnRead,
): Socket {
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  const options = {
    host,
    port: Number(origin.port) || (connectTls ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    onread,
    // Node gives each address of a name a quarter of a second, which is too little across an ocean.
    autoSelectFamilyAttemptTimeout: 1000,
  };
  if (!connectTls) return connectTcp(options);
  return connectTls({
    ...options,
    ALPNProtocols: ['http/1.1'],
    // An address is not a name: the standard forbids sending one.
    ...(isIP(host) ? {} : { servername: host }),
    ...(checkFingerprint ? { rejectUnauthorized: false } : {}),
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(tlsSession ? { session: tlsSession } : {}),
  });
}
