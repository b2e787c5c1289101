/**
 * The connections to one origin: as many as needed up to a limit, kept for later requests, and a queue in
 * order of arrival for waiting ones. One request at a time on a connection: a slow answer must not delay
 * another.
 */
import { type ConnectionEnd, HttpConnection, type HttpExchange, type Route } from './http-connection.ts';
import { HttpError, type HttpRequest } from './http-message.ts';

/**
 * Servers close idle connections, and a request that crosses the closing fails. Few close earlier than this.
 */
const IDLE_MAX_MS = 4000;

/** The last one is of a copy, whose source may be its own target. */
const CONDITIONS = ['if-match', 'if-none-match', 'x-amz-copy-source-if-match'];

export class HttpPool {
  readonly #route: Route;
  readonly #connectionsMax: number;
  readonly #open = new Set<HttpConnection>();
  /** The most recently used is taken first, so that the others age. */
  readonly #idle: { readonly connection: HttpConnection; readonly sinceMs: number }[] = [];
  readonly #waiting: HttpExchange[] = [];
  /** Exchanges that wait for one connection that is being made. */
  readonly #bound = new Map<HttpConnection, HttpExchange>();
  #connecting = 0;
  #isClosed = false;

  constructor(route: Route, connectionsMax: number) {
    this.#route = route;
    this.#connectionsMax = connectionsMax;
  }

  /** The exchange gets `end` or `fail` once, unless it is cancelled before. */
  run(exchange: HttpExchange): void {
    if (this.#isClosed) {
      exchange.fail(closedError());
      return;
    }
    const connection = this.#takeIdle();
    if (connection) connection.start(exchange);
    else {
      this.#waiting.push(exchange);
      this.#connectForWaiting();
    }
  }

  /** Nothing reaches the exchange from here on. Its connection is lost. */
  cancel(exchange: HttpExchange): void {
    const { connection } = exchange;
    if (connection) {
      connection.abandon();
      return;
    }
    const index = this.#waiting.indexOf(exchange);
    if (index >= 0) this.#waiting.splice(index, 1);
    for (const [bound, waiting] of this.#bound) if (waiting === exchange) this.#bound.delete(bound);
  }

  /** Running and waiting exchanges fail. */
  close(): void {
    this.#isClosed = true;
    const waiting = [...this.#waiting.splice(0), ...this.#bound.values()];
    this.#bound.clear();
    for (const connection of [...this.#open]) connection.destroy(closedError());
    for (const exchange of waiting) exchange.fail(closedError());
  }

  onFree(connection: HttpConnection): void {
    if (connection.exchanges === 0) this.#connecting -= 1;
    const exchange = this.#bound.get(connection) ?? this.#waiting.shift();
    this.#bound.delete(connection);
    if (exchange) connection.start(exchange);
    else {
      connection.holdProcess(false);
      this.#idle.push({ connection, sinceMs: performance.now() });
    }
  }

  onClosed(connection: HttpConnection, end: ConnectionEnd): void {
    this.#open.delete(connection);
    const index = this.#idle.findIndex((one) => one.connection === connection);
    if (index >= 0) this.#idle.splice(index, 1);
    let { exchange } = end;
    if (end.wasConnecting) {
      this.#connecting -= 1;
      // The longest waiting exchange gets the error: waiting on does not help if the server is away.
      exchange = this.#bound.get(connection) ?? this.#waiting.shift();
      this.#bound.delete(connection);
    }
    if (exchange && this.#isStale(connection, end, exchange.request)) this.#connect(exchange);
    else exchange?.fail(end.error);
    this.#connectForWaiting();
  }

  /**
   * The server most likely closed a kept connection before it saw the request, so it is sent once more, on a
   * new connection. It may still have been carried out. That does no harm to requests that may be repeated:
   * reads, and writes that put or remove the same again. Under a condition the second time would meet the
   * first one's result, and a POST begins or ends an upload.
   */
  #isStale(connection: HttpConnection, end: ConnectionEnd, { headers, method, path }: HttpRequest): boolean {
    if (this.#isClosed || !end.isUnanswered || connection.exchanges < 2) return false;
    const code = end.error instanceof Error && 'code' in end.error ? end.error.code : undefined;
    const isBroken = code === 'ECONNRESET' || code === 'EPIPE';
    // A part is never its own source.
    const isPart = method === 'PUT' && path.includes('uploadId=');
    const isConditional = !isPart && CONDITIONS.some((name) => headers[name] !== undefined);
    return isBroken && method !== 'POST' && (method === 'GET' || method === 'HEAD' || !isConditional);
  }

  #takeIdle(): HttpConnection | undefined {
    for (;;) {
      const last = this.#idle.pop();
      if (!last) return undefined;
      const { connection, sinceMs } = last;
      if (performance.now() - sinceMs <= IDLE_MAX_MS) {
        connection.holdProcess(true);
        return connection;
      }
      connection.destroy(undefined);
    }
  }

  #connectForWaiting(): void {
    while (
      !this.#isClosed &&
      this.#open.size < this.#connectionsMax &&
      this.#connecting - this.#bound.size < this.#waiting.length
    )
      this.#connect();
  }

  #connect(exchange?: HttpExchange): void {
    const connection = new HttpConnection(this.#route, this);
    this.#open.add(connection);
    this.#connecting += 1;
    if (exchange) this.#bound.set(connection, exchange);
  }
}

function closedError(): HttpError {
  return new HttpError('ECONNRESET', 'The client was closed.');
}
