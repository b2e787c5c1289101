/**
 * The two streams of one command: results on stdout, progress and problems on stderr; or JSON lines on stdout
 * only.
 */
import type { JobEvent } from '../../../engine/api/events.ts';
import { systemClock } from '../../../engine/base/clock.ts';
import { createPaint, type Paint } from './colors.ts';
import {
  createLiveProgress,
  createLoggedProgress,
  type ProgressDisplay,
  silentProgress,
} from './progress/progress-display.ts';
import {
  clearBlock,
  drainedOutput,
  formatLine,
  isTerminal,
  onStderrResize,
  sizeOfStderr,
  writeAsIs,
  writeBlock,
  writeLine,
  writtenOutput,
} from './terminal.ts';

/** Lines are joined up to this many characters, so thousands of short lines take one write. */
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
  // Each call is one line. Line breaks and other controls in its text become escapes (`terminal.ts`).
  /** A result line: on stdout, also with `--quiet`. Not printed in JSON mode. */
  result(line: string): void;
  /** A closing remark: on stdout, not with `--quiet`, not in JSON mode. */
  note(line: string): void;
  /** The summary of a long command: one line at a terminal, otherwise a line for each part. */
  summary(lines: readonly string[]): void;
  /** A problem: on stderr, at once, after `dray: `. In JSON mode too, for people who read a log. */
  problem(kind: 'error' | 'warning' | 'plain', line: string): void;
  /** One JSON object, as one line on stdout. */
  record(value: JobEvent | Readonly<Record<string, unknown>>): void;
  /**
   * Undefined while the reader of stdout keeps up. Otherwise resolves once a full pipe has room; until then
   * lines stay in memory.
   */
  drained(): Promise<void> | undefined;
  /** Resolves when the system has taken every line. */
  close(): Promise<void>;
}

export function createOutput(options: OutputOptions): Output {
  const { environment } = options;
  const paintProblem = createPaint({ isTerminal: isTerminal('stderr'), environment });
  const progress = chooseProgress(options, paintProblem);
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
  const note = (line: string) => {
    if (!options.json && !options.quiet) bufferLine(formatLine(line));
  };
  return {
    ...options,
    paint: createPaint({ isTerminal: isTerminal('stdout'), environment }),
    progress,
    result: (line) => {
      if (!options.json) bufferLine(formatLine(line));
    },
    note,
    summary: (lines) => {
      for (const line of isTerminal('stdout') ? [lines.join(' ')] : lines) note(line);
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

/** JSON has no bigint. Exact integers become numbers if they fit, and strings otherwise. */
export function toJsonLine(value: unknown): string {
  return JSON.stringify(value, (_key, item) => {
    if (typeof item !== 'bigint') return item;
    const number = Number(item);
    return Number.isSafeInteger(number) ? number : item.toString();
  });
}

function chooseProgress({ json, quiet, environment }: OutputOptions, paint: Paint): ProgressDisplay {
  if (json || quiet) return silentProgress;
  const clock = systemClock;
  if (!isTerminal('stderr') || environment.TERM === 'dumb')
    return createLoggedProgress({ writeLine: (line) => writeLine('stderr', line), clock });
  const size = sizeOfStderr;
  return createLiveProgress({
    ...{ draw: writeBlock, clear: clearBlock, size, onResize: onStderrResize, paint, clock },
  });
}
