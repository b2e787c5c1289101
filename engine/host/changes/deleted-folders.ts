/** Distinguishes a folder that is deleted as a whole from one that keeps unchanged files. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangeRow } from '../../api/host/changes.ts';

/** The most names that are read for one folder. A larger folder counts as kept. */
const NAMES_MAX = 2_000;

/**
 * Marks a folder that keeps no file. Before a pull, the files that it deletes are still on disk, so the
 * folder is kept if it has more files than these. Before a push, any file on disk keeps it.
 */
export function markGone(root: string, row: ChangeRow, areHere: boolean): ChangeRow {
  const { below, change, path } = row;
  if (!below || change !== 'deleted') return row;
  const most = areHere ? below.rows : 0;
  return countFiles(root, path, most) > most ? row : { ...row, below: { ...below, isGone: true } };
}

/** Stops after `most`. Follows no link: `lstat` gets the path without the slash that would resolve it. */
function countFiles(root: string, folder: string, most: number): number {
  let files = 0;
  let names = 0;
  const open = [folder];
  try {
    for (let inner = parentOf(folder); inner !== ''; inner = parentOf(inner))
      if (!lstatSync(join(root, inner.slice(0, -1))).isDirectory()) return 0;
    for (let next = open.pop(); next !== undefined && files <= most; next = open.pop()) {
      if (!lstatSync(join(root, next.slice(0, -1))).isDirectory()) continue;
      for (const entry of readdirSync(join(root, next), { withFileTypes: true })) {
        if (entry.isDirectory()) open.push(`${next}${entry.name}/`);
        else files += 1;
        names += 1;
        if (names > NAMES_MAX) return Number.POSITIVE_INFINITY;
      }
    }
    return files;
  } catch (error) {
    // A folder that cannot be read may contain files.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? files : Number.POSITIVE_INFINITY;
  }
}

function parentOf(folder: string): string {
  return folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
}
