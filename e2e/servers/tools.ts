/** The servers of the tests: real ones, built by Go from pinned versions, outside the repository. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

interface Tool {
  readonly binary: string;
  readonly module: string;
}

const TOOLS = {
  versitygw: { binary: 'versitygw', module: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0' },
  // Its main package is called `server`.
  toxiproxy: { binary: 'server', module: 'github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0' },
  minio: {
    binary: 'minio',
    module: 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c',
  },
  // Later versions have a replaced module, which "go install" refuses.
  temporal: { binary: 'temporal', module: 'github.com/temporalio/cli/cmd/temporal@v1.5.1' },
  restic: { binary: 'restic', module: 'github.com/restic/restic/cmd/restic@v0.18.1' },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;

/** Making and linking it is a fifth of the work, and no test debugs a server. */
const WITHOUT_DEBUG_DATA = ['-gcflags=all=-dwarf=false', '-ldflags=-s -w'];
const INSTALL_TIMEOUT_MS = 15 * 60_000;
const START_TIMEOUT_MS = 30_000;
const STOP_GRACE_MS = 5_000;

/** The folder of the binaries: `DRAY_TOOLS`, or `~/.cache/dray-tools/bin`. */
function toolsFolder(): string {
  return process.env.DRAY_TOOLS || join(homedir(), '.cache', 'dray-tools', 'bin');
}

/**
 * Returns the path of the tool's binary and builds it first if it is missing. Several processes may call this
 * at once.
 */
export async function toolPath(name: ToolName): Promise<string> {
  const tool: Tool = TOOLS[name];
  const folder = toolsFolder();
  const path = join(folder, fileOf(tool));
  await makeOnce(path, join(folder, `${tool.binary}.lock`), () => install(tool, folder));
  return path;
}

/** Makes a file that all tests share, unless it is there. Several processes may call this at once. */
export async function makeOnce(path: string, lock: string, make: () => Promise<void>): Promise<void> {
  if (await exists(path)) return;
  await mkdir(dirname(lock), { recursive: true });
  while (!(await takeLock(lock))) {
    await pause(500);
    if (await exists(path)) return;
  }
  try {
    if (!(await exists(path))) await make();
  } finally {
    await rm(lock, { force: true });
  }
}

function fileOf({ binary }: Tool): string {
  return process.platform === 'win32' ? `${binary}.exe` : binary;
}

/** Builds aside and renames: a test that waits for the binary must not start one that is still written. */
async function install(tool: Tool, folder: string): Promise<void> {
  const built = await mkdtemp(join(folder, 'building-'));
  try {
    await promisify(execFile)('go', ['install', ...WITHOUT_DEBUG_DATA, tool.module], {
      env: { ...process.env, GOBIN: built },
      timeout: INSTALL_TIMEOUT_MS,
    });
    await rename(join(built, fileOf(tool)), join(folder, fileOf(tool)));
  } catch (cause) {
    const isGoMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const message = isGoMissing
      ? `The tests need ${tool.binary}, which Go builds, and there is no "go" on the PATH. Install Go, or put the binary into ${folder}.`
      : `"go install ${tool.module}" failed.`;
    throw new Error(message, { cause });
  } finally {
    await rm(built, { recursive: true, force: true });
  }
}

/** A lock older than any installation takes was left by a killed process. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx')).close();
    return true;
  } catch {
    const age = await stat(lock).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > INSTALL_TIMEOUT_MS) await rm(lock, { force: true });
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Returns a loopback port that is free at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('No port.')),
      );
    });
  });
}

export interface RunningProcess {
  /** Undefined when the process did not start. */
  readonly processId: number | undefined;
  /** Its output, for messages. */
  output(): string;
  isRunning(): boolean;
  /** Asks the process to end, then kills it. Resolves when it has ended. */
  stop(): Promise<void>;
}

/** Starts a server that ends with this process at the latest. */
export function startProcess(
  path: string,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): RunningProcess {
  const child = spawn(path, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      output += `${error.message}\n`;
      isRunning = false;
      resolve();
    });
    child.once('exit', () => {
      isRunning = false;
      resolve();
    });
  });
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-10_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  endWithThis(child);
  return {
    processId: child.pid,
    output: () => output,
    isRunning: () => isRunning,
    stop: () => endChild(child, ended, () => isRunning),
  };
}

/** One exit listener for all servers, however many a benchmark runs at once. */
const children = new Set<ChildProcess>();

function endWithThis(child: ChildProcess): void {
  if (!process.listeners('exit').includes(killAll)) process.once('exit', killAll);
  children.add(child);
  child.once('exit', () => children.delete(child));
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

async function endChild(child: ChildProcess, ended: Promise<void>, isRunning: () => boolean): Promise<void> {
  if (!isRunning()) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  await ended;
  clearTimeout(timer);
}

/**
 * Waits until `isReady` returns true. @throws Error with the process's output when it ends or takes too long.
 */
export async function waitUntilReady(
  running: RunningProcess,
  isReady: () => Promise<boolean>,
): Promise<void> {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  let cause: unknown;
  while (running.isRunning() && Date.now() < deadlineMs) {
    try {
      if (await isReady()) return;
    } catch (error) {
      cause = error;
    }
    await pause(20);
  }
  await running.stop();
  throw new Error(`The server did not start:\n${running.output()}`, { cause });
}

/** `node e2e/servers/tools.ts versitygw temporal` builds these early, one after the other. */
if (import.meta.main) for (const name of process.argv.slice(2)) await toolPath(name as ToolName);
