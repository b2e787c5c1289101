import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { LoggedRequest } from '../../e2e/servers/versitygw.ts';
import { type BenchServer, parseProcessCpuMs, startBenchServer, watchServers } from './bench-servers.ts';

/** A line as in proc_pid_stat(5), with 12 ticks of user time and 30 of system time. */
function statOf(name: string): string {
  return `4711 (${name}) S 1 4711 4711 0 -1 4194304 1500 0 0 0 12 30 0 0 20 0 9 0 100 1 2`;
}

describe('The CPU time of a process', () => {
  it.each(['minio', 'a b', 'a) R (b', '))'])('is user plus system time for any name: %j', (name) => {
    expect(parseProcessCpuMs(statOf(name))).toBe(420);
  });

  it('cannot be read from a line of another form', () => {
    expect(() => parseProcessCpuMs('4711 (minio) S 1')).toThrow('/proc');
  });
});

describe('The watch over servers', () => {
  const request = (path: string): LoggedRequest => ({
    operation: 'GetObject',
    method: 'GET',
    path,
    query: '',
    status: 200,
  });

  /** A server as the watch sees it: its process and its log. */
  function serverWith(processId: number | undefined, requests?: readonly LoggedRequest[]): BenchServer {
    const log = requests && { requests: async () => requests, resetRequests: async () => {} };
    // No server listens there.
    const endpoint = 'http://127.0.0.1:9';
    return { name: 'versitygw', processId, endpoint, ...(log ? { log } : {}) } as BenchServer;
  }

  it('joins the requests of all servers', async () => {
    const watch = watchServers([
      serverWith(process.pid, [request('/a')]),
      serverWith(process.pid, [request('/b')]),
    ]);
    await watch.reset();
    expect((await watch.read()).requests?.map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  it('reports no requests when a server keeps no log', async () => {
    const watch = watchServers([serverWith(process.pid, [request('/a')]), serverWith(process.pid)]);
    await watch.reset();
    expect((await watch.read()).requests).toBeNull();
  });

  it('reports no CPU time without a process since the reset', async () => {
    const servers = [serverWith(process.pid), serverWith(undefined)];
    const watch = watchServers(servers);
    await watch.reset();
    expect((await watch.read()).cpuMs).toBeNull();
    servers.pop();
    await watch.reset();
    servers.push(serverWith(process.pid));
    expect((await watch.read()).cpuMs).toBeNull();
  });
});

describe('A server of the bench', () => {
  it('reports requests and CPU time since the reset when it is versitygw', async () => {
    await using server = await startBenchServer('versitygw', {});
    const watch = watchServers([server]);
    await server.createBucket('before');
    await watch.reset();
    expect((await watch.read()).requests).toEqual([]);
    await server.createBucket('after');
    const { requests, cpuMs, wire } = await watch.read();
    expect(requests?.map(({ path }) => path)).toEqual(['/after']);
    expect(cpuMs === null).toBe(!existsSync('/proc/self/stat'));
    // One small request and its answer, with their headers.
    expect(wire?.sentBytes ?? 500).toSatisfy((bytes: number) => bytes > 100 && bytes < 5_000);
    expect(wire?.receivedBytes ?? 500).toSatisfy((bytes: number) => bytes > 100 && bytes < 5_000);
  });

  it('keeps no log when it is MinIO', async () => {
    await using server = await startBenchServer('minio', {});
    const watch = watchServers([server]);
    await watch.reset();
    await server.createBucket('after');
    const { requests, cpuMs, wire } = await watch.read();
    expect(requests).toBeNull();
    expect(cpuMs === null).toBe(!existsSync('/proc/self/stat'));
    expect(wire?.sentBytes ?? 500).toSatisfy((bytes: number) => bytes > 100 && bytes < 5_000);
  });
});
