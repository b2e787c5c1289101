/**
 * The names in a folder, in the order in which their keys list: byte order, with a folder as if its name
 * ended in `/`. A page of a listing needs all names of a folder, to sort them, and 100 pages of one large
 * folder would read it 100 times. So the last few large ones are cached. A cached list is reused only while
 * the folder's time is unchanged, because every new, removed or renamed name changes that time. It must also
 * have been old when the folder was read, or a change within the same tick of the clock would be missed.
 */
import { readdir, stat } from 'node:fs/promises';
import { comparePaths } from '../../model/entry.ts';
import { isOwnFolderName } from '../../model/safe-path.ts';

/** Names; those of folders end in `/`. */
type SortedNames = readonly string[];

export interface FolderReader {
  /**
   * Returns regular files and folders, but no links, sockets, devices and folders of Dray's own. Throws
   * Node's errors. @param folder Identifies it. @param path Its current path.
   */
  names(folder: string, path: string): Promise<SortedNames>;
}

const KEPT_FOLDERS_MAX = 4;
/** Smaller ones are read as fast as they are checked. */
const KEPT_NAMES_MIN = 1000;
/** Coarser than any file system's clock (FAT: 2 s). */
const SETTLED_AFTER_MS = 3000;

interface Kept {
  readonly mtimeNs: bigint;
  readonly names: SortedNames;
}

export function createFolderReader(nowMs: () => number): FolderReader {
  const kept = new Map<string, Kept>();
  return {
    async names(folder, path) {
      const before = kept.get(folder);
      if (before) {
        if ((await stat(path, { bigint: true })).mtimeNs === before.mtimeNs) return before.names;
        kept.delete(folder);
      }
      const { mtimeNs, mtimeMs } = await stat(path, { bigint: true });
      const isSettled = Number(mtimeMs) < nowMs() - SETTLED_AFTER_MS;
      const names = await readNames(path);
      if (names.length >= KEPT_NAMES_MIN && isSettled) {
        if (kept.size >= KEPT_FOLDERS_MAX) kept.delete(kept.keys().next().value!);
        kept.set(folder, { mtimeNs, names });
      }
      return names;
    },
  };
}

async function readNames(path: string): Promise<SortedNames> {
  const names: string[] = [];
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (isOwnFolderName(entry.name)) continue;
    if (entry.isDirectory()) names.push(`${entry.name}/`);
    else if (entry.isFile()) names.push(entry.name);
  }
  return names.sort(comparePaths);
}
