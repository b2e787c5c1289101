/**
 * Ctrl-C and SIGTERM: the first asks the job to stop; the second, or a job that does not stop, ends the
 * process.
 */
import { DrayError } from '../../engine/api/error.ts';

/**
 * The time that a job has to stop before the process ends anyway. Everything on disk is safe at any moment.
 */
const GRACE_MS = 900;

/** 128 plus the signal's number, as in shells. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof EXIT_CODES;

export interface StopSignals {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** Undefined while no signal came. */
  exitCode(): number | undefined;
  dispose(): void;
}

export interface StopSignalOptions {
  readonly onFirst: () => void;
  /** Ends the process. */
  readonly exit: (code: number) => void;
  readonly graceMs?: number;
}

export function watchStopSignals({ onFirst, exit, graceMs = GRACE_MS }: StopSignalOptions): StopSignals {
  const controller = new AbortController();
  let code: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = (name: StopSignal) => {
    if (code !== undefined) return exit(code);
    code = EXIT_CODES[name];
    timer = setTimeout(exit, graceMs, code);
    onFirst();
    controller.abort(new DrayError('aborted', 'Stopped on request.'));
  };
  const names = Object.keys(EXIT_CODES) as StopSignal[];
  for (const name of names) process.on(name, stop);
  return {
    signal: controller.signal,
    exitCode: () => code,
    dispose: () => {
      clearTimeout(timer);
      for (const name of names) process.off(name, stop);
    },
  };
}
