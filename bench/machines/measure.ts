/** Runs one process from start to end and measures it. */
import { execFile, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { formatDuration } from '../../engine/api/text/numbers.ts';
import type { Measurement } from '../page/results.ts';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface CommandRun extends Measurement {
  /** The end of its output on either stream. */
  readonly output: string;
}

export interface Meter {
  /** False where GNU time is not installed; CPU and memory are then null. */
  readonly seesResources: boolean;
  /** @throws Error with the end of its output when the command fails or takes over `limitMs`. */
  run(command: Command, signal: AbortSignal, limitMs?: number): Promise<CommandRun>;
}

const LIMIT_MS = 30 * 60_000;
/** A dry run prints a million names of about 110 bytes. */
const OUTPUT_BYTES_MAX = 256 * 1024 ** 2;
export const GNU_TIME = '/usr/bin/time';

/** False where `/usr/bin/time` is another program or missing. */
export function findGnuTime(): Promise<boolean> {
  return promisify(execFile)(GNU_TIME, ['--version']).then(
    ({ stdout, stderr }) => /GNU/.test(stdout + stderr),
    () => false,
  );
}

/**
 * CPU and memory come from GNU time, which reads them by wait4(2) when the process has ended. Node cannot do
 * that: it has no resource usage of a single child. The kernel starts a child's peak memory at that of the
 * process that forked it, so that process must be small.
 *
 * @param folder For its result files.
 */
export async function createMeter(folder: string): Promise<Meter> {
  const seesResources = await findGnuTime();
  const notes = `${folder}/time.txt`;
  return {
    seesResources,
    run: async (command, signal, limitMs) => {
      // Writes out the disk cache, so that no run pays for an earlier one.
      await runToEnd({ file: 'sync', args: [], environment: process.env }, signal);
      if (!seesResources)
        return { ...(await runToEnd(command, signal, limitMs)), cpuMs: null, peakRssBytes: null };
      await rm(notes, { force: true });
      const args = ['-f', '%U %S %M', '-o', notes, command.file, ...command.args];
      const run = await runToEnd({ ...command, file: GNU_TIME, args }, signal, limitMs);
      return { ...run, ...parseNotes(await readFile(notes, 'utf8')) };
    },
  };
}

/** Parses seconds of user and system time, and KiB. */
export function parseNotes(text: string): Pick<Measurement, 'cpuMs' | 'peakRssBytes'> {
  const [user, system, peakKib] = (text.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  if (user === undefined || system === undefined || peakKib === undefined || Number.isNaN(peakKib))
    throw new Error(`GNU time printed an unknown format: ${text}`);
  return { cpuMs: Math.round((user + system) * 1000), peakRssBytes: peakKib * 1024 };
}

/** Runs a command that is not measured, such as a preparation. */
export async function runUnmeasured(
  command: Command,
  signal: AbortSignal,
  limitMs?: number,
): Promise<string> {
  return (await runToEnd(command, signal, limitMs)).output;
}

function runToEnd(
  command: Command,
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<Pick<CommandRun, 'wallMs' | 'output'>> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    // Its own process group: everything below GNU time must end with it.
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: command.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const printed = createTail(OUTPUT_BYTES_MAX);
    let wallMs = 0;
    let stopReason: string | undefined;
    const stop = (reason: string) => {
      stopReason = reason;
      // After the process has ended, its group may be gone.
      const isRunning = child.exitCode === null && child.signalCode === null;
      if (isRunning && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    const onAbort = () => stop('was stopped');
    const timer = setTimeout(() => stop(`took over ${formatDuration(limitMs)}`), limitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    child.stdout.on('data', printed.add);
    child.stderr.on('data', printed.add);
    child.once('error', (error) => {
      settle();
      reject(new Error(`${command.file} did not start: ${error.message}`));
    });
    child.once('exit', () => {
      wallMs = performance.now() - startedMs;
    });
    child.once('close', (code, signalName) => {
      settle();
      const output = printed.text();
      if (code === 0) return resolve({ wallMs, output });
      const end = stopReason ?? `ended with ${code ?? signalName}`;
      reject(new Error(`${[command.file, ...command.args].join(' ')} ${end}: ${lastLines(output)}`));
    });
  });
}

/**
 * Keeps the end of the output. Joins the pieces only at the end, so as not to load the machine while it
 * measures.
 */
function createTail(bytesMax: number): { add(chunk: Buffer): void; text(): string } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add: (chunk) => {
      chunks.push(chunk);
      bytes += chunk.length;
      while (chunks[0] && bytes - chunks[0].length >= bytesMax) bytes -= chunks.shift()?.length ?? 0;
    },
    text: () => Buffer.concat(chunks).toString(),
  };
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-3).join(' ').slice(-300);
}
