/** The S3 servers of the scenarios, and the load on them. */
import { readFile } from 'node:fs/promises';
import { startMinio } from '../../e2e/servers/minio.ts';
import {
  type LoggedRequest,
  type S3Endpoint,
  type ServerOptions,
  startVersitygw,
} from '../../e2e/servers/versitygw.ts';
import { type WireBytes, type WireWatch, watchWire } from './wire-bytes.ts';

export const SERVER_NAMES = ['versitygw', 'minio'] as const;
export type ServerName = (typeof SERVER_NAMES)[number];
/** The server of scenarios that do not choose one. */
export const USUAL_SERVER: ServerName = 'versitygw';

export interface BenchServer extends S3Endpoint {
  readonly name: ServerName;
  /** The requests in its own access log. Absent where it keeps none. */
  readonly log?: {
    requests(): Promise<readonly LoggedRequest[]>;
    resetRequests(): Promise<void>;
  };
}

/** Counts the work of all servers of a bench since the last reset. */
export interface ServerWatch {
  reset(): Promise<void>;
  read(): Promise<ServerWork>;
}

export interface ServerWork {
  /** Null when one of them keeps no log. */
  readonly requests: readonly LoggedRequest[] | null;
  /** User and system time; null where the system does not report it. */
  readonly cpuMs: number | null;
  /** Bytes to and from all of them; null where the system does not report them. */
  readonly wire: Partial<WireBytes> | null;
}

export async function startBenchServer(name: ServerName, options: ServerOptions): Promise<BenchServer> {
  if (name === 'minio') return { ...(await startMinio(options)), name };
  const server = await startVersitygw(options);
  const { requests, resetRequests } = server;
  return { ...server, name, log: { requests, resetRequests } };
}

/** @param servers All servers started by the time of each call. */
export function watchServers(servers: readonly BenchServer[]): ServerWatch {
  let before: ReadonlyMap<BenchServer, number | null> = new Map();
  let wire: WireWatch | undefined;
  const cpuOf = (server: BenchServer) => readCpuMs(server.processId);
  return {
    reset: async () => {
      for (const { log } of servers) await log?.resetRequests();
      // A failed run has not ended its watch.
      await wire?.end(0);
      wire = await watchWire(servers.map(({ endpoint }) => Number(new URL(endpoint).port)));
      before = new Map(
        await Promise.all(servers.map(async (server) => [server, await cpuOf(server)] as const)),
      );
    },
    read: async () => {
      const spent = await Promise.all(
        servers.map(async (server) => {
          const [first, now] = [before.get(server) ?? null, await cpuOf(server)];
          return first === null || now === null ? null : now - first;
        }),
      );
      const logs = await Promise.all(servers.map(async ({ log }) => (await log?.requests()) ?? null));
      const bytes = (await wire?.end()) ?? null;
      wire = undefined;
      return { cpuMs: sumUnlessNull(spent), requests: joinUnlessNull(logs), wire: bytes };
    },
  };
}

/** The kernel's unit in /proc on every architecture that Node runs on (`getconf CLK_TCK`). */
const TICK_MS = 10;

/**
 * Reads a process's user and system time in ms, by proc_pid_stat(5). The name in parentheses may have any
 * characters.
 */
export function parseProcessCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime are the 14th and 15th fields; these fields start with the 3rd.
  const ticks = Number(fields[11]) + Number(fields[12]);
  if (Number.isNaN(ticks)) throw new Error(`/proc has an unknown format: ${stat}`);
  return ticks * TICK_MS;
}

async function readCpuMs(processId: number | undefined): Promise<number | null> {
  const text = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => undefined);
  return text === undefined ? null : parseProcessCpuMs(text);
}

function sumUnlessNull(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}

function joinUnlessNull<Item>(lists: readonly (readonly Item[] | null)[]): readonly Item[] | null {
  const present = lists.filter((list) => list !== null);
  return present.length === lists.length ? present.flat() : null;
}
