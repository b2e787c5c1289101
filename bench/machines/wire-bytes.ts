/**
 * Counts the bytes on the wire to a server and back by the kernel, without a proxy that could slow a run
 * down.
 *
 * `ss --events` reports each TCP connection when it ends, with its `tcp_info` (RFC 4898 names the counters).
 * It counts the TCP payload in order: requests and answers with their headers, and TLS, but no IP or TCP
 * headers and no retransmissions. The error is a byte or two a connection, by which the kernel counts its
 * start and its end. If some hundred thousand connections end within a second, `ss` misses some.
 */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { connect, createServer, type Server } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface WireBytes {
  /** Bytes from clients to the servers. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface WireWatch {
  /**
   * Counts the connections that have ended since the watch began, and ends the watch. Null when some are open
   * or could not be counted.
   */
  end(patienceMs?: number): Promise<WireBytes | null>;
}

/** Time for a server on an overloaded machine to notice that its client has gone. */
const PATIENCE_MS = 10_000;
const STEP_MS = 20;

/**
 * @param ports The servers' ports on this machine. @returns Undefined without `ss` (Linux, iproute2) or when
 * the kernel reports nothing.
 */
export async function watchWire(ports: readonly number[]): Promise<WireWatch | undefined> {
  const probe = await listen();
  const probePort = portOf(probe);
  // Otherwise its lines stay in its buffer.
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
  // A forgotten watch must not keep the process alive.
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
      // `ss` reports connections that ended before the probe first.
      const isWhole = (await waitUntilIdle(ports, patienceMs)) && (await isHeard());
      close();
      return isWhole ? total : null;
    },
  };
}

/** Connects until `ss` reports an end of a probe; by then it has reported all earlier connections. */
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

/** A filter of `ss` for the servers' ends of connections. */
function from(ports: readonly number[]): readonly string[] {
  return [`( ${ports.map((port) => `sport = :${port}`).join(' or ')} )`];
}

/** @param line A line of `ss` about the server's end of a connection. */
export function parseConnection(line: string): (WireBytes & { readonly port: number }) | undefined {
  // State, two queues, the server's address, the client's address.
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

/** Connects and resolves when the connection is closed. */
function knock(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => socket.end());
    socket.once('error', () => socket.destroy());
    socket.once('close', () => resolve());
    socket.resume();
  });
}
