/**
 * The report of a check as one JSON document, written as it goes: an envelope that says what was compared and when, one line for each
 * file with how it was compared, and the totals. Whoever has the two places can repeat it line by line.
 */
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { DrayError } from '../api/error.ts';
import type { ComparedEvent } from '../api/events.ts';
import type { CheckTreesSummary } from '../api/trees.ts';
import { writeFully } from '../base/write-fully.ts';
import type { TreePair } from './tree-pair.ts';

export interface CheckReport {
  add(event: ComparedEvent): void;
  /** Puts the report in its place. */
  finish(summary: CheckTreesSummary): void;
  /** Of a check that did not finish nothing stays. Idempotent. */
  close(): void;
}

const BUFFERED_LINES_MAX = 1_000;

/** The files that a report is or will be: of these no check tells, wherever they lie. */
export function reportFiles(path: string): readonly string[] {
  return [path, temporaryOf(path)];
}

function temporaryOf(path: string): string {
  return `${path}.${process.pid}.tmp`;
}

/** @throws `io` when the file cannot be written. */
export function openCheckReport(path: string, { destination, source }: TreePair): CheckReport {
  const temporary = temporaryOf(path);
  // What was left by a check that was killed: in a container every process may have the same number.
  attempt(path, () => rmSync(temporary, { force: true }));
  let file: number | undefined = attempt(path, () => openSync(temporary, 'wx'));
  let writtenBytes = 0;
  let lines: string[] = [];
  let isFirst = true;
  const write = (text: string) => {
    const bytes = Buffer.from(text);
    attempt(path, () => writeFully(file!, bytes, writtenBytes));
    writtenBytes += bytes.length;
  };
  const flush = () => {
    if (lines.length > 0) write(lines.join(''));
    lines = [];
  };
  const head = {
    report: 'dray check',
    version: 1,
    started: new Date().toISOString(),
    source: source.text,
    destination: destination.text,
  };
  write(`${JSON.stringify(head).slice(0, -1)},"files":[`);
  return {
    add({ by, differsAt, path: name, result, sizeBytes }) {
      const line = { path: name, size: sizeBytes, result, by, differsAt };
      lines.push(`${isFirst ? '' : ','}\n${JSON.stringify(line)}`);
      isFirst = false;
      if (lines.length >= BUFFERED_LINES_MAX) flush();
    },
    finish(summary) {
      flush();
      write(
        `\n],"finished":${JSON.stringify(new Date().toISOString())},"totals":${JSON.stringify(summary)}}\n`,
      );
      closeSync(file!);
      file = undefined;
      try {
        attempt(path, () => renameSync(temporary, path));
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    },
    close() {
      if (file === undefined) return;
      closeSync(file);
      file = undefined;
      rmSync(temporary, { force: true });
    },
  };
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw new DrayError('io', `The report ${path} could not be written (${code}).`, {
      data: { path },
      cause,
    });
  }
}
