/**
 * What went over the wire to a server and back, as the kernel counted it: nothing lies between that could slow a run down.
 *
 * `ss --events` tells of each TCP connection when it ends, with its `tcp_info` (RFC 4898 names the counters). Counted is the
 * payload of TCP in order: requests and answers with their headers, TLS included; no IP or TCP headers, nothing that was
 * sent twice. The error is a byte or two for each connection, by which the kernel counts its beginning and its end. Should
 * connections end faster than `ss` reads of them, some are not seen: some hundred thousand a second.
 */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { connect, createServer, type Server } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface WireBytes {
  /** From clients to the servers. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface WireWatch {
  /** Of the connections that have ended since the watch began. Null when some go on, or could not be seen. Ends the watch. */
  end(patienceMs?: number): Promise<WireBytes | null>;
}

/** For a server to notice that its client has gone, on a machine with more to do than it can. */
const PATIENCE_MS = 10_000;
const STEP_MS = 20;

/**
 * @param ports Of the servers, on this machine.
 * @returns Undefined where there is no `ss` (Linux, iproute2) or the kernel does not tell.
 */
export async function watchWire(ports: readonly number[]): Promise<WireWatch | undefined> {
  const probe = await listen();
  const probePort = portOf(probe);
  // Else its lines would stay in its buffer.
  const events = spawn(
    'stdbuf',
    [
      '-oL',
      'ss',
      '--events',
      '--tcp',
      '--numeric',
      '--info',
      '--no-header',
      '--oneline',
      ...from([...ports, probePort]),
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  // A watch that nobody ends must not keep the process.
  events.unref();
  probe.unref();
  const wanted = new Set(ports);
  const total = { sentBytes: 0, receivedBytes: 0 };
  let probesSeen = 0;
  createInterface({ input: events.stdout }).on('line', (line) => {
    const ended = parseConnection(line);
    if (!ended) return;
    if (ended.port === probePort) probesSeen += 1;
    if (!wanted.has(ended.port)) return;
    total.sentBytes += ended.sentBytes;
    total.receivedBytes += ended.receivedBytes;
  });
  const isHeard = () => hearProbe(events, probePort, () => probesSeen);
  const kill = () => events.kill();
  process.once('exit', kill);
  const close = () => {
    process.removeListener('exit', kill);
    kill();
    probe.close();
  };
  if (!(await isHeard())) {
    close();
    return undefined;
  }
  return {
    end: async (patienceMs = PATIENCE_MS) => {
      // What ended before the probe is told of before it.
      const isWhole = (await waitUntilIdle(ports, patienceMs)) && (await isHeard());
      close();
      return isWhole ? total : null;
    },
  };
}

/** Connects until an end of it is told of: then all before have been. */
async function hearProbe(
  events: ChildProcessByStdio<null, Readable, null>,
  port: number,
  seen: () => number,
): Promise<boolean> {
  let isOver = false;
  events.once('error', () => {
    isOver = true;
  });
  const before = seen();
  const untilMs = performance.now() + PATIENCE_MS;
  while (performance.now() < untilMs && !isOver && events.exitCode === null) {
    await knock(port);
    await pause(STEP_MS);
    if (seen() > before) return true;
  }
  return false;
}

async function waitUntilIdle(ports: readonly number[], patienceMs: number): Promise<boolean> {
  const untilMs = performance.now() + patienceMs;
  while (performance.now() < untilMs) {
    const { stdout } = await promisify(execFile)('ss', [
      '--tcp',
      '--numeric',
      '--no-header',
      'state',
      'connected',
      'exclude',
      'time-wait',
      ...from(ports),
    ]);
    if (stdout.trim() === '') return true;
    await pause(STEP_MS);
  }
  return false;
}

/** A filter of `ss`: the server's ends of connections. */
function from(ports: readonly number[]): readonly string[] {
  return [`( ${ports.map((port) => `sport = :${port}`).join(' or ')} )`];
}

/** @param line Of `ss`, about the server's end of a connection. */
export function parseConnection(line: string): (WireBytes & { readonly port: number }) | undefined {
  // State, two queues, the address of the server, that of the client.
  const port = /^\s*\S+\s+\d+\s+\d+\s+\S+:(\d+)\s/.exec(line)?.[1];
  if (port === undefined) return undefined;
  const counted = (name: string) => Number(new RegExp(` ${name}:(\\d+)`).exec(line)?.[1] ?? 0);
  return {
    port: Number(port),
    sentBytes: counted('bytes_received'),
    receivedBytes: counted('bytes_sent') - counted('bytes_retrans'),
  };
}

function listen(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end();
    socket.resume();
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The probe has no port.');
  return address.port;
}

/** Resolves when the connection is over. */
function knock(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => socket.end());
    socket.once('error', () => socket.destroy());
    socket.once('close', () => resolve());
    socket.resume();
  });
}
