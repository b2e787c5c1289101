/**
 * The servers of tools that move files between machines, each over one folder, and the CPU time of their
 * processes.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, type RunningProcess, startProcess, waitUntilReady } from '../../e2e/servers/tools.ts';
import { parseProcessCpuMs } from './bench-servers.ts';

export interface FolderServer {
  readonly port: number;
  /**
   * User and system time of its processes and of the children that they have waited for; null where the
   * system does not report it.
   */
  cpuMs(): Promise<number | null>;
  stop(): Promise<void>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const RSYNC_MODULE = 'bench';

/** rsync forks a process for each connection, and Linux counts its time when the daemon has waited for it. */
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
    // Runs as the current user; otherwise rsync would become nobody.
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

/** @param tls `auto`: its own certificate, made at the first start. `off`: plain HTTP. */
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

/** The first level of folders below `folder` are its buckets. Without keys, it accepts every request. */
export async function startRcloneS3(
  path: string,
  folder: string,
  environment: Environment,
): Promise<FolderServer> {
  const port = await freePort();
  return startFolderServer(path, ['serve', 's3', folder, '--addr', `127.0.0.1:${port}`], port, environment);
}

/** pdiffcopy reads and writes any path that a client names. */
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

/** A process that serves one connection may outlive its client briefly. */
const SETTLE_MS = 500;
const SETTLE_STEP_MS = 25;

/**
 * Waits until the processes of earlier connections have ended, or for a while, because a pool of workers
 * never ends.
 */
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

/** Reads the time of awaited children: cutime and cstime, the 16th and 17th field of proc_pid_stat(5). */
export function parseWaitedCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}
