/** Runs `dray` in a process of its own, so the crash of one run does not end others. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export interface DrayRun {
  /** The words after `dray`. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** False discards the output. */
  readonly takesOutput: boolean;
  /** Stops the process. A stopped run of a job can be resumed. */
  readonly signal: AbortSignal;
}

export interface DrayEnd {
  readonly exitCode: number;
  /** The end of its standard output. */
  readonly output: string;
}

/** Rejects if the process cannot be started. */
export type RunDray = (run: DrayRun) => Promise<DrayEnd>;

/** The time that a run has to stop before it is killed. */
export const STOP_GRACE_MS = 10_000;
const OUTPUT_CHARACTERS_MAX = 64 * 1024;

/** @param command The program and the words that make it `dray`. */
export function drayProcess([program, ...first]: readonly [string, ...string[]]): RunDray {
  return ({ environment, signal, takesOutput, words }) => {
    const child = spawn(program, [...first, ...words], {
      env: { ...environment },
      stdio: ['ignore', takesOutput ? 'pipe' : 'ignore', 'ignore'],
      windowsHide: true,
      // Ctrl-C of the terminal stops this process, which stops the run in its own time.
      detached: process.platform !== 'win32',
    });
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      child.kill('SIGTERM');
      timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const output = tailOf(child.stdout);
    return new Promise<DrayEnd>((resolve, reject) => {
      child.on('error', reject);
      // As shells count: 128 plus the number of the signal that ended it.
      child.on('close', (code, name) =>
        resolve({ exitCode: code ?? 128 + (name ? constants.signals[name] : 0), output: output() }),
      );
    }).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
  };
}

/** Keeps the end of the output. */
export function tailOf(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(-OUTPUT_CHARACTERS_MAX);
  });
  return () => text;
}
