/** Whether a folder whose listed files are all deleted goes as a whole, or keeps unchanged files. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangeRow } from '../../api/host/changes.ts';

/** Names read for one folder at most. A larger folder counts as one that stays. */
const NAMES_MAX = 2_000;

/**
 * Marks a folder that keeps no file. Before a pull its deleted files are still here, before a push they are
 * not, so it stays only if it has more files than are deleted, or any that a push did not find gone.
 */
export function markGone(root: string, row: ChangeRow, areHere: boolean): ChangeRow {
  const { below, change, path } = row;
  if (!below || change !== 'deleted') return row;
  const most = areHere ? below.rows : 0;
  return countFiles(root, path, most) > most ? row : { ...row, below: { ...below, isGone: true } };
}

/** Stops after `most`. Follows no link: without its slash, a link's path names the link. */
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
    // One that cannot be read may keep anything.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? files : Number.POSITIVE_INFINITY;
  }
}

function parentOf(folder: string): string {
  return folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
}
