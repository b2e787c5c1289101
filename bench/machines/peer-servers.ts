/** The servers of tools that move files between machines, each offering one folder, and what their processes took. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, type RunningProcess, startProcess, waitUntilReady } from '../../e2e/servers/tools.ts';
import { parseProcessCpuMs } from './bench-servers.ts';

export interface FolderServer {
  readonly port: number;
  /** User and system time of its processes and of those that it has waited for; null where the system does not tell. */
  cpuMs(): Promise<number | null>;
  stop(): Promise<void>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const RSYNC_MODULE = 'bench';

/** rsync forks one process for each connection, and Linux hears of what it took when the daemon has waited for it. */
export async function startRsyncDaemon(
  path: string,
  folder: string,
  notes: string,
  environment: Environment,
): Promise<FolderServer> {
  const port = await freePort();
  const config = [
    'use chroot = no',
    `log file = ${notes}.log`,
    `pid file = ${notes}.pid`,
    // Its own user's, whoever that is: without these it would become nobody.
    `uid = ${process.getuid?.() ?? 0}`,
    `gid = ${process.getgid?.() ?? 0}`,
    `[${RSYNC_MODULE}]`,
    `path = ${folder}`,
    'read only = no',
  ];
  await writeFile(notes, `${config.join('\n')}\n`);
  const args = ['--daemon', '--no-detach', `--config=${notes}`, `--port=${port}`, '--address=127.0.0.1'];
  return startFolderServer(path, args, port, environment);
}

/** @param tls A certificate of its own, made at the first start; off: plain HTTP. */
export async function startDrayServe(
  program: string,
  options: { readonly folder: string; readonly tokenFile: string; readonly isTls: boolean },
  environment: Environment,
): Promise<FolderServer> {
  const port = await freePort();
  const tls = options.isTls ? [] : ['--tls', 'off'];
  const listen = ['--listen', `127.0.0.1:${port}`, ...tls];
  const args = [program, 'serve', options.folder, ...listen, '--token-file', options.tokenFile];
  return startFolderServer(process.execPath, args, port, environment);
}

export async function startRcloneWebdav(
  path: string,
  folder: string,
  environment: Environment,
): Promise<FolderServer> {
  const port = await freePort();
  return startFolderServer(
    path,
    ['serve', 'webdav', folder, '--addr', `127.0.0.1:${port}`],
    port,
    environment,
  );
}

/** The first level of folders below `folder` are its buckets. Without keys, it asks for none. */
export async function startRcloneS3(
  path: string,
  folder: string,
  environment: Environment,
): Promise<FolderServer> {
  const port = await freePort();
  return startFolderServer(path, ['serve', 's3', folder, '--addr', `127.0.0.1:${port}`], port, environment);
}

/** It reads and writes wherever it is told to. */
export async function startPdiffcopy(path: string, environment: Environment): Promise<FolderServer> {
  const port = await freePort();
  return startFolderServer(path, [`--listen=127.0.0.1:${port}`], port, environment);
}

async function startFolderServer(
  path: string,
  args: readonly string[],
  port: number,
  environment: Environment,
): Promise<FolderServer> {
  const running = startProcess(path, args, environment);
  await waitUntilReady(running, () => takesConnections(port));
  return { port, cpuMs: () => readTreeCpuMs(running), stop: () => running.stop() };
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (isTaken: boolean) => {
      socket.destroy();
      resolve(isTaken);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** A process that serves one connection may outlive its client by a little. */
const SETTLE_MS = 500;
const SETTLE_STEP_MS = 25;

/** Once what it has forked for the connections of before has ended, or after a while: a pool of workers never does. */
async function readTreeCpuMs({ processId }: RunningProcess): Promise<number | null> {
  if (processId === undefined) return null;
  let last = await sumTree(processId);
  for (let waitedMs = 0; waitedMs < SETTLE_MS && last && last.processes > 1; waitedMs += SETTLE_STEP_MS) {
    await pause(SETTLE_STEP_MS);
    last = await sumTree(processId);
  }
  return last?.cpuMs ?? null;
}

async function sumTree(
  processId: number,
): Promise<{ readonly cpuMs: number; readonly processes: number } | null> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return null;
  let cpuMs = parseProcessCpuMs(stat) + parseWaitedCpuMs(stat);
  let processes = 1;
  for (const child of await childrenOf(processId)) {
    const below = await sumTree(child);
    if (!below) continue;
    cpuMs += below.cpuMs;
    processes += below.processes;
  }
  return { cpuMs, processes };
}

async function childrenOf(processId: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${processId}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) =>
      readFile(join('/proc', String(processId), 'task', thread, 'children'), 'utf8').catch(() => ''),
    ),
  );
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

const TICK_MS = 10;

/** Of the children that it has waited for: cutime and cstime, the 16th and the 17th field of proc_pid_stat(5). */
export function parseWaitedCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}
