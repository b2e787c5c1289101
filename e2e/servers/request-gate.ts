/** A proxy between a client and an HTTP server that counts concurrent requests. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RequestGate extends AsyncDisposable {
  readonly endpoint: string;
  /** The most concurrent requests since the last `hold`. */
  mostInFlight(): number;
  /** Holds uploads until this many are in flight together. A request that waits too long is let through. */
  hold(untilInFlight: number): void;
}

/** Longer than a client needs to send its next request. */
const PATIENCE_MS = 1_000;

/**
 * @param endpoint The server's endpoint. Requests keep their Host header, because the signature covers it.
 */
export async function startRequestGate(endpoint: string): Promise<RequestGate> {
  const target = new URL(endpoint);
  let wanted = 1;
  let inFlight = 0;
  let most = 0;
  let waiting: (() => void)[] = [];
  const release = () => {
    const released = waiting;
    waiting = [];
    for (const go of released) go();
  };
  const pass = async (from: IncomingMessage, to: ServerResponse) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    to.once('close', () => {
      inFlight -= 1;
    });
    if (inFlight >= wanted) release();
    else if (from.method === 'PUT')
      await new Promise<void>((go) => {
        waiting.push(go);
        setTimeout(go, PATIENCE_MS);
      });
    const { headers, method, url: path } = from;
    const onward = request({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    from.pipe(onward);
  };
  const server = createServer((from, to) => void pass(from, to));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mostInFlight: () => most,
    hold(untilInFlight) {
      wanted = untilInFlight;
      most = 0;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
