/**
 * A proxy between a client and an HTTP server that holds requests from a count on. So a test can stop a
 * transfer half-way, however fast or busy the machine is.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';

/** Selects the requests that a gate counts. All others pass. */
export type Counted = (request: { readonly method: string; readonly url: URL }) => boolean;

export interface RequestGate extends AsyncDisposable {
  readonly endpoint: string;
  /** Lets this many more of these requests pass, and holds later ones. The server never sees those. */
  hold(counted: Counted, passes?: number): void;
  /** The same, but later ones reach the server, and only their answers are held. */
  holdAnswers(counted: Counted, passes?: number): void;
  /** Answers these requests itself: with 403, or with 503, which asks for fewer requests. */
  refuse(counted: Counted, status?: 403 | 503): void;
  /** The number of clients that wait for the gate. */
  held(): number;
  /** Lets all waiting requests pass, except those whose client has gone, and all later ones. Refuses none. */
  release(): void;
  /** The most concurrent requests since the last `hold`. */
  mostInFlight(): number;
}

export const isUpload: Counted = ({ method }) => method === 'PUT';
export const isPart: Counted = ({ method, url }) => method === 'PUT' && url.searchParams.has('partNumber');
export const isDownload: Counted = ({ method, url }) =>
  method === 'GET' && !['list-type', 'uploads', 'uploadId'].some((name) => url.searchParams.has(name));
/** An object of its own in a repository, such as a large file. */
export const isObject: Counted = ({ url }) => url.pathname.includes('/objects/');

const REFUSALS = { 403: 'AccessDenied', 503: 'SlowDown' };

/**
 * @param endpoint The server's endpoint. Requests keep their Host header, because the signature covers it.
 */
export async function startRequestGate(endpoint: string): Promise<RequestGate> {
  const target = new URL(endpoint);
  const agent = new Agent();
  const waiting = new Set<() => void>();
  let rule: { readonly counted: Counted; readonly isOfAnswers: boolean; passes: number } | undefined;
  let refused: Counted = () => false;
  let refusal: keyof typeof REFUSALS = 403;
  let inFlight = 0;
  let most = 0;
  const setRule = (counted: Counted, isOfAnswers: boolean, passes: number) => {
    rule = { counted, isOfAnswers, passes };
    most = 0;
  };

  const wait = async (to: ServerResponse) => {
    if (to.closed) return;
    await new Promise<void>((resolve) => {
      waiting.add(resolve);
      to.once('close', () => {
        waiting.delete(resolve);
        resolve();
      });
    });
  };
  const pass = async (from: IncomingMessage, to: ServerResponse) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    to.once('close', () => {
      inFlight -= 1;
    });
    const { headers, method = '', url = '' } = from;
    if (refused({ method, url: new URL(url, endpoint) })) {
      from.resume();
      const error = `<Error><Code>${REFUSALS[refusal]}</Code><Message>Refused.</Message></Error>`;
      to.writeHead(refusal).end(`<?xml version="1.0"?>${error}`);
      return;
    }
    let heldBy: typeof rule;
    if (rule?.counted({ method, url: new URL(url, endpoint) })) {
      if (rule.passes === 0) heldBy = rule;
      else rule.passes -= 1;
    }
    // Reads a held request as well: nobody sees that a client has gone while its bytes are not read.
    const body = from.pipe(new PassThrough(heldBy && { highWaterMark: Number.MAX_SAFE_INTEGER }));
    if (heldBy && !heldBy.isOfAnswers) await wait(to);
    if (to.closed) return;
    const { hostname: host, port } = target;
    const onward = request({ host, port, method, path: url, headers, agent }, async (answer) => {
      if (heldBy?.isOfAnswers && heldBy === rule) await wait(to);
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.once('error', () => to.destroy());
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    to.once('close', () => onward.destroy());
    body.pipe(onward);
  };

  const server = createServer((from, to) => void pass(from, to));
  // A held request may take longer than Node allows one.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (counted, passes = 0) => setRule(counted, false, passes),
    holdAnswers: (counted, passes = 0) => setRule(counted, true, passes),
    refuse(counted, status = 403) {
      refused = counted;
      refusal = status;
    },
    held: () => waiting.size,
    release() {
      rule = undefined;
      refused = () => false;
      for (const go of waiting) go();
      waiting.clear();
    },
    mostInFlight: () => most,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
