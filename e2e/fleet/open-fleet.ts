/** A fleet on this machine: Temporal, an S3 server, workers as processes, and the command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { startTemporal, type TemporalServer } from '../servers/temporal.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

export interface Fleet extends AsyncDisposable {
  readonly temporal: TemporalServer;
  readonly s3: S3Server;
  /** Runs `dray fleet ...` to its end. */
  run(...words: readonly string[]): Promise<FleetRun>;
  /** The same, for a command that is interrupted. */
  follow(...words: readonly string[]): FollowedRun;
  /** Resolves once the worker takes work. */
  startWorker(options?: WorkerStart): Promise<FleetWorker>;
  /** Puts objects below the prefix: content by name. */
  put(prefix: string, files: Readonly<Record<string, string>>): Promise<void>;
}

export interface FleetRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The summary of `--json`. */
  readonly summary: Record<string, unknown>;
}

export interface FollowedRun {
  readonly ended: Promise<FleetRun>;
  /** Ctrl-C. */
  interrupt(): void;
}

export interface WorkerStart {
  /** Instead of the store's own, such as a proxy's. */
  readonly endpoint?: string;
  readonly words?: readonly string[];
  /** Called for each line of `--json`, also before the worker takes work. */
  readonly onLine?: (line: Record<string, unknown>) => void;
}

export interface FleetWorker {
  readonly processId: number;
  /** The lines of `--json` so far. */
  readonly lines: readonly Record<string, unknown>[];
  /** Kills it. */
  kill(): Promise<void>;
  /** Asks it to end. @returns Its exit code. */
  stop(): Promise<number | null>;
}

/** `count` files in ten folders, each with its own name as content. */
export function numberedFiles(count: number): Readonly<Record<string, string>> {
  const names = Array.from(
    { length: count },
    (_, number) => `${number % 10}/object-${String(number).padStart(6, '0')}`,
  );
  return Object.fromEntries(names.map((name) => [name, name]));
}

export async function openFleet(): Promise<Fleet> {
  const temporal = await startTemporal();
  const s3 = await startVersitygw();
  const children = new Set<ChildProcess>();
  const start = (words: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const env = { ...process.env, ...s3.environment, TEMPORAL_ADDRESS: temporal.address, ...more };
    const child = spawn(process.execPath, [COMMAND, ...words], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  const follow = (words: readonly string[]): FollowedRun => {
    const child = start(['fleet', ...words]);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    const ended = once(child, 'close').then(([exitCode]) => ({
      exitCode: exitCode as number | null,
      stdout,
      stderr,
      summary: summaryOf(stdout),
    }));
    return { ended, interrupt: () => void child.kill('SIGINT') };
  };
  return {
    temporal,
    s3,
    run: (...words) => follow(words).ended,
    follow: (...words) => follow(words),
    async startWorker({ endpoint, onLine, words = [] } = {}) {
      const child = start(
        ['fleet', 'worker', '--json', ...words],
        endpoint === undefined ? {} : { AWS_ENDPOINT_URL: endpoint },
      );
      const ended = once(child, 'close');
      const lines: Record<string, unknown>[] = [];
      let problems = '';
      child.stderr.setEncoding('utf8').on('data', (text) => (problems += text));
      await new Promise<void>((resolve, reject) => {
        createInterface(child.stdout).on('line', (line) => {
          lines.push(JSON.parse(line));
          onLine?.(lines.at(-1)!);
          if (lines.at(-1)?.type === 'fleetWorker') resolve();
        });
        void ended.then(([code]) =>
          reject(new Error(`The worker ended with ${code}:\n${problems}${JSON.stringify(lines)}`)),
        );
      });
      const end = async (signal: NodeJS.Signals) => {
        child.kill(signal);
        const [exitCode] = (await ended) as [number | null];
        return exitCode;
      };
      return {
        processId: child.pid!,
        lines,
        kill: async () => void (await end('SIGKILL')),
        stop: () => end('SIGTERM'),
      };
    },
    async put(prefix, files) {
      using sandbox = createSandbox();
      for (const [name, content] of Object.entries(files)) sandbox.write(name, content);
      const child = start(['copy', '-q', sandbox.folder, `s3://${s3.bucket}/${prefix}`]);
      const [exitCode] = (await once(child, 'close')) as [number | null];
      if (exitCode !== 0) throw new Error(`The objects were not put: dray copy ended with ${exitCode}.`);
    },
    async [Symbol.asyncDispose]() {
      const ends = [...children].map((child) => once(child, 'exit'));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(ends);
      await s3.stop();
      await temporal[Symbol.asyncDispose]();
    },
  };
}

function summaryOf(stdout: string): Record<string, unknown> {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('{') ? JSON.parse(last) : {};
}
