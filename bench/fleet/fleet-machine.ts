/** Two stores, Temporal, and workers of the built command as processes, all on this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildCommand } from '../../app/build/build.ts';
import { roomyFolder } from '../../e2e/servers/memory-folder.ts';
import { startTemporal, type TemporalServer } from '../../e2e/servers/temporal.ts';
import { type S3Server, startVersitygw } from '../../e2e/servers/versitygw.ts';
import { DRAY_COMMAND } from '../entrants/contenders.ts';
import { parseProcessCpuMs } from '../machines/bench-servers.ts';

export interface FleetMachine extends AsyncDisposable {
  readonly temporal: TemporalServer;
  readonly source: S3Server;
  /** It has the keys of the source. */
  readonly destination: S3Server;
  /** For files of the run. It is removed at the end. */
  readonly folder: string;
  /** Reaches Temporal and both stores, but for the endpoint. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Resolves once the worker takes work. */
  startWorker(options?: WorkerStart): Promise<BenchWorker>;
  /** Runs `dray ...` to its end. */
  run(words: readonly string[], environment?: Readonly<Record<string, string>>): Promise<CommandEnd>;
}

const SAMPLE_EVERY_MS = 500;
/** The number of characters that are kept of a worker's output. */
const OUTPUT_KEPT = 20_000;

interface WorkerStart {
  readonly environment?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
}

export interface BenchWorker {
  readonly processId: number;
  /** Since it started. */
  cpuMs(): number;
  residentBytes(): number;
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** The last of what it printed. */
  output(): string;
  /** Its exit code or signal, unless this program ended it. */
  readonly endedAlone: Promise<string>;
}

export interface CommandEnd {
  readonly exitCode: number | null;
  readonly output: string;
  /** The summary of `--json`. */
  readonly summary: Readonly<Record<string, unknown>>;
  readonly wallMs: number;
}

export async function startFleetMachine(): Promise<FleetMachine> {
  await buildCommand(dirname(DRAY_COMMAND));
  const folder = mkdtempSync(join(await roomyFolder(), 'dray-fleet-bench-'));
  const temporal = await startTemporal();
  const source = await startVersitygw();
  const destination = await startVersitygw({ secretAccessKey: source.secretAccessKey });
  const { AWS_ENDPOINT_URL: _, ...keys } = source.environment;
  const environment = {
    ...process.env,
    ...keys,
    TEMPORAL_ADDRESS: temporal.address,
    DRAY_CACHE: join(folder, 'cache'),
  };
  const children = new Set<ChildProcess>();
  endWithThis(children, folder);
  const start = (words: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const child = spawn(process.execPath, [DRAY_COMMAND, ...words], {
      env: { ...environment, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  return {
    ...{ temporal, source, destination, folder, environment },
    startWorker: ({ environment: own, words = [] } = {}) =>
      readyWorker(start(['fleet', 'worker', '--json', ...words], own)),
    run: (words, own) => endOf(start(words, own)),
    async [Symbol.asyncDispose]() {
      const ends = [...children].map((child) => once(child, 'exit'));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(ends);
      await Promise.all([source.stop(), destination.stop(), temporal[Symbol.asyncDispose]()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A stop from outside ends the servers too, which end when this process exits. */
function endWithThis(children: ReadonlySet<ChildProcess>, folder: string): void {
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}

/** A prefix of a store, by the store's own endpoint or another way to it. */
export function placeOn({ bucket, endpoint }: Pick<S3Server, 'bucket' | 'endpoint'>, prefix: string): string {
  return `s3://${bucket}/${prefix}/?endpoint=${endpoint}`;
}

async function readyWorker(child: ChildProcess): Promise<BenchWorker> {
  const ended = once(child, 'exit');
  let output = '';
  const keep = (text: string) => {
    output = (output + text).slice(-OUTPUT_KEPT);
  };
  child.stderr!.setEncoding('utf8').on('data', keep);
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout!).on('line', (line) => {
      keep(`${line}\n`);
      if (JSON.parse(line).type === 'fleetWorker') resolve();
    });
    void ended.then(([code]) => reject(new Error(`The worker ended with ${code}:\n${output}`)));
  });
  const alone = Promise.withResolvers<string>();
  let isEnded = false;
  void ended.then(([code, signal]) => {
    if (!isEnded) alone.resolve(String(code ?? signal));
  });
  const end = async (signal: NodeJS.Signals) => {
    isEnded = true;
    child.kill(signal);
    await ended;
  };
  const processId = child.pid!;
  return {
    processId,
    cpuMs: () => cpuMsOf(processId),
    residentBytes: () => residentBytesOf(processId),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    output: () => output,
    endedAlone: alone.promise,
  };
}

/** The largest resident memory of one of them, by samples. */
export function watchWorkers(workers: readonly BenchWorker[]) {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, ...workers.map((worker) => worker.residentBytes()));
  }, SAMPLE_EVERY_MS);
  return { mostBytes: () => most, stop: () => clearInterval(timer) };
}

async function endOf(child: ChildProcess): Promise<CommandEnd> {
  const begunMs = performance.now();
  let [output, stdout] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout = (stdout + text).slice(-100_000);
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-10_000);
  });
  const [exitCode] = (await once(child, 'close')) as [number | null];
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  return {
    exitCode,
    output: `${stdout.slice(-10_000)}${output}`,
    summary: last.startsWith('{') ? JSON.parse(last) : {},
    wallMs: performance.now() - begunMs,
  };
}

export function cpuMsOf(processId: number): number {
  return parseProcessCpuMs(readFileSync(`/proc/${processId}/stat`, 'utf8'));
}

function residentBytesOf(processId: number): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'));
  return Number(found?.[1]) * 1024;
}
