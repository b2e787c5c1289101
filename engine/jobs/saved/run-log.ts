/**
 * The log of a job: JSON lines of bounded size. At its limit, the file replaces `log.1.jsonl`.
 */
import { appendFileSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';

const LOG_BYTES_MAX = 1024 * 1024;
const TEXT_CHARACTERS_MAX = 4_000;

export interface LogLine {
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly kind: 'started' | 'warning' | 'error' | 'ended' | 'notice';
  readonly text: string;
}

export interface RunLog {
  /** Never fails: a full disk must not end a run that works. */
  write(kind: LogLine['kind'], text: string): void;
}

/** @param folder The job's own. */
export function openRunLog(folder: string, clock: Pick<Clock, 'nowMs'>): RunLog {
  const path = join(folder, 'log.jsonl');
  return {
    write(kind, text) {
      const time = new Date(clock.nowMs()).toISOString();
      const line: LogLine = { time, kind, text: text.slice(0, TEXT_CHARACTERS_MAX) };
      try {
        const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
        if (size >= LOG_BYTES_MAX) renameSync(path, join(folder, 'log.1.jsonl'));
        appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
      } catch {
        // The run's result is in its state.
      }
    },
  };
}

/** The newest lines, the oldest of them first. */
export function readRunLog(folder: string, linesMax: number): LogLine[] {
  const texts = ['log.1.jsonl', 'log.jsonl'].map((name) => readIfThere(join(folder, name)));
  return texts.join('').split('\n').flatMap(parseLine).slice(-linesMax);
}

function parseLine(text: string): LogLine[] {
  try {
    const { kind, text: what, time } = JSON.parse(text) as LogLine;
    return [{ time: String(time), kind, text: String(what) }];
  } catch {
    // The last line of a killed run may be incomplete.
    return [];
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new DrayError('io', `${path} cannot be read.`, { data: { path }, cause });
  }
}
