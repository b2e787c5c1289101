/**
 * Replaces small files atomically, and names files that a process keeps for itself. Both kinds of names
 * contain the process's tag, so that the next process removes the files of a killed one.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isMakerGone, makerTag } from './process-life.ts';

/**
 * Creates the folder if needed; with `mode`, for this user only. Leaves no temporary file when it fails.
 * @throws The system's error.
 */
export function replaceFile(path: string, text: string | Uint8Array, mode?: number): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, ...(mode === undefined ? {} : { mode: 0o700 }) });
  const temporary = newOwnName(folder, `${basename(path)}.`);
  try {
    // `wx`: never write into a file that somebody else created with another mode.
    writeFileSync(temporary, text, { flag: 'wx', flush: true, ...(mode === undefined ? {} : { mode }) });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

const swept = new Set<string>();

/** A path for this process only. The first call removes files of dead processes with the same `start`. */
export function newOwnName(folder: string, start: string): string {
  const beginning = join(folder, start);
  if (!swept.has(beginning)) {
    swept.add(beginning);
    sweepLeft(folder, start);
  }
  return `${beginning}${makerTag()}.${randomUUID()}.tmp`;
}

/** Best effort: the next process tries again. */
function sweepLeft(folder: string, start: string): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(start)) continue;
      const [tag = '', ...rest] = name.slice(start.length).split('.');
      // SQLite keeps further files beside its own, with a suffix.
      if (rest.length === 2 && rest[1]!.startsWith('tmp') && isMakerGone(tag)) rmSync(join(folder, name));
    }
  } catch {
    // It belongs to another user, or is already gone.
  }
}
