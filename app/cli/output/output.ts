/** The two streams of one command: results on stdout, progress and problems on stderr; or JSON lines on stdout alone. */
import type { JobEvent } from '../../../engine/api/events.ts';
import { systemClock } from '../../../engine/base/clock.ts';
import { createPaint, type Paint } from './colors.ts';
import {
  createLiveProgress,
  createLoggedProgress,
  type ProgressDisplay,
  silentProgress,
} from './progress-display.ts';
import {
  columnsOfStderr,
  drainedOutput,
  formatLine,
  isTerminal,
  writeAsIs,
  writeLine,
  writeProgress,
  writtenOutput,
} from './terminal.ts';

/** Lines wait for each other up to so many characters: one write for thousands of short lines. */
const BUFFERED_CHARACTERS_MAX = 32 * 1024;

export interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Output extends OutputOptions {
  readonly paint: Paint;
  readonly progress: ProgressDisplay;
  // Each call is one line: line breaks and other controls in its text are shown as escapes (`terminal.ts`).
  /** A line that was asked for: on stdout, with `--quiet` too. Nothing in JSON mode. */
  result(line: string): void;
  /** A closing remark: on stdout, not with `--quiet`, nothing in JSON mode. */
  note(line: string): void;
  /** On stderr, at once, `dray: ` before it; in JSON mode too, for people who read a log. */
  problem(kind: 'error' | 'warning' | 'plain', line: string): void;
  /** One JSON object on one line of stdout. */
  record(value: JobEvent | Readonly<Record<string, unknown>>): void;
  /** Undefined while the reader of stdout keeps up: a pipe that is full takes nothing, and lines for it stay in memory. Else resolves once it does. */
  drained(): Promise<void> | undefined;
  /** Resolves when every line was handed to the system. */
  close(): Promise<void>;
}

export function createOutput(options: OutputOptions): Output {
  const { environment } = options;
  const progress = chooseProgress(options);
  const paintProblem = createPaint({ isTerminal: isTerminal('stderr'), environment });
  let buffered = '';
  let isFlushPlanned = false;
  const flush = () => {
    isFlushPlanned = false;
    if (buffered === '') return;
    progress.hide();
    writeAsIs(buffered);
    buffered = '';
  };
  const bufferLine = (line: string) => {
    buffered += line;
    if (buffered.length >= BUFFERED_CHARACTERS_MAX) flush();
    else if (!isFlushPlanned) {
      isFlushPlanned = true;
      setImmediate(flush);
    }
  };
  return {
    ...options,
    paint: createPaint({ isTerminal: isTerminal('stdout'), environment }),
    progress,
    result: (line) => {
      if (!options.json) bufferLine(formatLine(line));
    },
    note: (line) => {
      if (!options.json && !options.quiet) bufferLine(formatLine(line));
    },
    problem: (kind, line) => {
      flush();
      progress.hide();
      const color = kind === 'error' ? 'red' : 'yellow';
      const prefix =
        kind === 'plain' ? '' : `${paintProblem(color, kind === 'error' ? 'dray:' : 'dray: warning:')} `;
      writeLine('stderr', prefix + line);
    },
    record: (value) => bufferLine(`${toJsonLine(value)}\n`),
    drained: drainedOutput,
    close: async () => {
      progress.stop();
      flush();
      await writtenOutput();
    },
  };
}

/** JSON knows no bigint: exact integers become numbers where they fit and strings where they do not. */
export function toJsonLine(value: unknown): string {
  return JSON.stringify(value, (_key, item) => {
    if (typeof item !== 'bigint') return item;
    const number = Number(item);
    return Number.isSafeInteger(number) ? number : item.toString();
  });
}

function chooseProgress({ json, quiet, environment }: OutputOptions): ProgressDisplay {
  if (json || quiet) return silentProgress;
  const target = { write: writeProgress, columns: columnsOfStderr, clock: systemClock };
  const isLive = isTerminal('stderr') && environment.TERM !== 'dumb';
  return isLive ? createLiveProgress(target) : createLoggedProgress(target);
}
