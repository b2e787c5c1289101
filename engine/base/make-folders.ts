import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Node's own way to do so never ends where the system says ENOENT of a
 * folder whose parent exists, as `/proc` and automounters do.
 * @param mode Of each folder that it makes. Default: the system's.
 * @returns True if the folder was made, false if it was there.
 * @throws The system's own errors.
 */
export function makeFolders(path: string, mode?: number): boolean {
  try {
    return makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    makeFolders(parent, mode);
    return makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number | undefined): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    // A system may refuse before it looks whether the folder is there.
    const isThere = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isThere) return false;
    throw error;
  }
}
