import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { LoggedRequest } from '../../e2e/servers/versitygw.ts';
import { type BenchServer, parseProcessCpuMs, startBenchServer, watchServers } from './bench-servers.ts';

/** As proc_pid_stat(5) has it, with 12 ticks of user and 30 of system time. */
function statOf(name: string): string {
  return `4711 (${name}) S 1 4711 4711 0 -1 4194304 1500 0 0 0 12 30 0 0 20 0 9 0 100 1 2`;
}

describe('the CPU time of a process', () => {
  it.each(['minio', 'a b', 'a) R (b', '))'])('is user and system time, whatever its name: %j', (name) => {
    expect(parseProcessCpuMs(statOf(name))).toBe(420);
  });

  it('is refused where the line is of another form', () => {
    expect(() => parseProcessCpuMs('4711 (minio) S 1')).toThrow('/proc');
  });
});

describe('the watch over servers', () => {
  const request = (path: string): LoggedRequest => ({
    operation: 'GetObject',
    method: 'GET',
    path,
    query: '',
    status: 200,
  });

  /** Of a server the watch sees its process and its log. */
  function serverWith(processId: number | undefined, requests?: readonly LoggedRequest[]): BenchServer {
    const log = requests && { requests: async () => requests, resetRequests: async () => {} };
    // Nothing listens there.
    const endpoint = 'http://127.0.0.1:9';
    return { name: 'versitygw', processId, endpoint, ...(log ? { log } : {}) } as BenchServer;
  }

  it('joins what all of them were asked', async () => {
    const watch = watchServers([
      serverWith(process.pid, [request('/a')]),
      serverWith(process.pid, [request('/b')]),
    ]);
    await watch.reset();
    expect((await watch.read()).requests?.map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  it('knows no requests when one of them keeps no log', async () => {
    const watch = watchServers([serverWith(process.pid, [request('/a')]), serverWith(process.pid)]);
    await watch.reset();
    expect((await watch.read()).requests).toBeNull();
  });

  it('knows no CPU time when one of them has no process, or was started after the reset', async () => {
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

describe('a server of the bench', () => {
  it('that is versitygw tells what it was asked since the reset, and its CPU time', async () => {
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

  it('that is MinIO keeps no log', async () => {
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
