/** Runs a saved job in a process of its own, so that a crash of one run ends no other. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { RunStart } from './saved-job.ts';

export interface RunProcess {
  /** The program and the words that make it `dray`. */
  readonly command: readonly [string, ...string[]];
  readonly name: string;
  readonly by: RunStart;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Asks the run to stop; it can be resumed. */
  readonly signal: AbortSignal;
}

/** The time that a run has to stop. */
const GRACE_MS = 10_000;

/** Resolves to its exit code. Rejects if the process cannot be started. */
export function runProcess({ by, command, environment, name, signal }: RunProcess): Promise<number> {
  const [program, ...words] = command;
  const child = spawn(program, [...words, 'job', 'run', name, '--by', by, '--quiet'], {
    env: { ...environment },
    stdio: 'ignore',
    windowsHide: true,
    // Ctrl-C of the terminal stops this process, which stops the run in its own time.
    detached: process.platform !== 'win32',
  });
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill('SIGTERM');
    timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    // As shells count: 128 plus the number of the signal that ended it.
    child.on('close', (exitCode, name) => resolve(exitCode ?? 128 + (name ? constants.signals[name] : 0)));
  }).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}
