/** Keeps the folder of tree indexes from growing for ever. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** An index, one that was damaged and set aside, or the lists of a run (`tree-spill.ts`) that was killed. */
const NAME = /^(?:[0-9a-f]{32}\.db(?:\.damaged)?|\.spill-.*\.db)$/;

/** Deletes what nobody has used since, by its time. Never fails: they are caches. */
export function sweepTreeIndexes(folder: string, unusedSinceMs: number): void {
  for (const name of namesIn(folder)) {
    if (!NAME.test(name)) continue;
    const path = join(folder, name);
    try {
      if (statSync(path).mtimeMs >= unusedSinceMs) continue;
      for (const suffix of ['-wal', '-shm', '']) rmSync(path + suffix, { force: true });
    } catch {
      // Another process sweeps as well, or holds it open where that forbids to delete it.
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
