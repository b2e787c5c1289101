/**
 * A proxy between one process and an S3 server. At a chosen request it kills the process, or makes it wait.
 * So a kill falls on each step of a command alike, however fast the machine is.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * `dropped`: killed before the server sees the request. `unanswered`: killed when the server has done it.
 * `late`: killed, and the server gets the request at the next `release`. `slow`: the process waits for the
 * next `release`.
 */
export type Mishap = 'dropped' | 'unanswered' | 'late' | 'slow';

export interface MishapProxy extends AsyncDisposable {
  readonly endpoint: string;
  /**
   * For the process that starts next.
   * @param at The number of the request, from 1. @param kill Ends the process by SIGKILL.
   */
  arm(mishap: Mishap, at: number, kill: () => void): void;
  /** What happened since `arm`, if anything did. */
  disarm(): Mishap | undefined;
  /** How many requests of living processes wait. */
  waiting(): number;
  /** Lets the requests go on that wait. Resolves when the server has answered those of dead processes. */
  release(): Promise<void>;
}

interface Plan {
  readonly mishap: Mishap;
  readonly kill: () => void;
  left: number;
}

/** @param onWait Called when a request of a living process begins to wait. */
export async function startMishapProxy(endpoint: string, onWait: () => void): Promise<MishapProxy> {
  const { hostname: host, port } = new URL(endpoint);
  const agent = new Agent({ keepAlive: true });
  let plan: Plan | undefined;
  let happened: Mishap | undefined;
  let slow: (() => void)[] = [];
  let late: (() => Promise<void>)[] = [];

  const send = ({ headers, method = '', url = '' }: IncomingMessage, body: Buffer) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const onward = request({ host, port, method, path: url, headers, agent }, resolve);
      onward.once('error', reject);
      onward.end(body);
    });
  const pass = async (from: IncomingMessage, to: ServerResponse, body: Buffer) => {
    const answer = await send(from, body);
    to.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(to);
  };
  const handle = async (from: IncomingMessage, to: ServerResponse) => {
    const body = await buffer(from);
    const current = plan;
    if (!current || --current.left !== 0) return pass(from, to, body);
    const { kill, mishap } = current;
    happened = mishap;
    if (mishap === 'slow') {
      slow.push(() => void pass(from, to, body).catch(() => to.destroy()));
      onWait();
      return;
    }
    if (mishap === 'unanswered') (await send(from, body)).resume();
    if (mishap === 'late') late.push(async () => void (await send(from, body)).resume());
    kill();
  };

  const server = createServer((from, to) => void handle(from, to).catch(() => to.destroy()));
  // A request that waits may take longer than Node allows one.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm: (mishap, at, kill) => {
      happened = undefined;
      plan = { mishap, kill, left: at };
    },
    disarm: () => {
      plan = undefined;
      return happened;
    },
    waiting: () => slow.length,
    release: async () => {
      const [living, dead] = [slow, late];
      [slow, late] = [[], []];
      for (const go of living) go();
      await Promise.all(dead.map((go) => go()));
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}
