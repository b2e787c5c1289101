/** Keeps the folder of tree indexes from growing forever. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { JOURNAL_SUFFIXES } from './open-database.ts';

/** An index, a damaged one that was set aside, or the lists of a killed run (`tree-spill.ts`). */
const NAME = /^(?:[0-9a-f]{32}\.db(?:\.damaged)?|\.spill-.*\.db)$/;

/** Deletes files that were not used since then, by their modification time. Never fails: they are caches. */
export function sweepTreeIndexes(folder: string, unusedSinceMs: number): void {
  for (const name of namesIn(folder)) {
    if (!NAME.test(name)) continue;
    const path = join(folder, name);
    try {
      if (statSync(path).mtimeMs >= unusedSinceMs) continue;
      for (const suffix of [...JOURNAL_SUFFIXES, '']) rmSync(path + suffix, { force: true });
    } catch {
      // Another process sweeps too, or has the file open on a system that then forbids deleting it.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
