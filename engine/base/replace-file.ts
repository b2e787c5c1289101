/**
 * Small files that are replaced in one step, and the files that a process keeps for itself. Both have the process's tag in their names, so
 * the next one removes what a killed one left.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isMakerGone, makerTag } from './process-life.ts';

/** Makes the folder too; for a file with a mode of its own, one for this user alone. @throws the system's error; nothing is left then. */
export function replaceFile(path: string, text: string, mode?: number): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, ...(mode === undefined ? {} : { mode: 0o700 }) });
  const temporary = newOwnName(folder, `${basename(path)}.`);
  try {
    // `wx`: a file that somebody else put there, with a mode of their own, is never written into.
    writeFileSync(temporary, text, { flag: 'wx', flush: true, ...(mode === undefined ? {} : { mode }) });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

const swept = new Set<string>();

/** A path for this process alone. What dead processes left under the same `start` goes, when it is first asked for. */
export function newOwnName(folder: string, start: string): string {
  const beginning = join(folder, start);
  if (!swept.has(beginning)) {
    swept.add(beginning);
    sweepLeft(folder, start);
  }
  return `${beginning}${makerTag()}.${randomUUID()}.tmp`;
}

/** Best effort: the next one tries again. */
function sweepLeft(folder: string, start: string): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(start)) continue;
      const [tag = '', ...rest] = name.slice(start.length).split('.');
      // SQLite keeps files beside its own, under the same name with an end.
      if (rest.length === 2 && rest[1]!.startsWith('tmp') && isMakerGone(tag)) rmSync(join(folder, name));
    }
  } catch {
    // Somebody else's, or gone by now.
  }
}
