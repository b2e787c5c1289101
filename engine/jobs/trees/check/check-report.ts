/**
 * The report of a check as one JSON document, written as the check runs: what was compared and when, one line
 * for each file with how it was compared, and the totals. Anyone who has the two places can repeat it line by
 * line.
 */
import { closeSync, openSync, renameSync } from 'node:fs';
import type { ComparedEvent } from '../../../api/events.ts';
import type { CheckTreesSummary } from '../../../api/jobs/trees.ts';
import { writeFully } from '../../../base/write-fully.ts';
import { openTemporaryFolderBeside } from '../../../files/disk/temporary-folder.ts';
import { attemptWrite } from '../../../files/write/write-error.ts';
import type { TreePair } from '../open-pair.ts';

export interface CheckReport {
  add(event: ComparedEvent): void;
  /** Moves the report into place. */
  finish(summary: CheckTreesSummary): void;
  /** Removes an unfinished report. Idempotent. */
  close(): void;
}

const BUFFERED_LINES_MAX = 1_000;

/** @throws `io`, `diskFull` */
export function openCheckReport(path: string, { destination, source }: TreePair): CheckReport {
  const temporaries = openTemporaryFolderBeside(path);
  const temporary = attemptWrite(path, () => temporaries.newName());
  let file: number | undefined = attemptWrite(path, () => openSync(temporary, 'wx'));
  let writtenBytes = 0;
  let lines: string[] = [];
  let isFirst = true;
  const write = (text: string) => {
    const bytes = Buffer.from(text);
    attemptWrite(path, () => writeFully(file!, bytes, writtenBytes));
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
        attemptWrite(path, () => renameSync(temporary, path));
      } finally {
        temporaries.close();
      }
    },
    close() {
      if (file === undefined) return;
      closeSync(file);
      file = undefined;
      temporaries.close();
    },
  };
}
