/** Which names a folder's file system takes for one and the same. Asked of the file system itself: mounts differ. */
import { closeSync, lstatSync, mkdirSync, openSync, rmSync, unlinkSync } from 'node:fs';
import { temporaryPrefix } from '../write/temporary-names.ts';
import { writeError } from '../write/write-error.ts';

/** Whether `a` and `A` name one file in this folder, which must be writable. Throws `io` or `diskFull`. */
export function isCaseInsensitive(folder: string): boolean {
  return isOneFile(folder, 'probe-a', 'PROBE-A');
}

/** Whether a letter with its accent composed (NFC) or apart (NFD) names one file in this folder. Throws as above. */
export function foldsUnicode(folder: string): boolean {
  return isOneFile(folder, 'probe-\u00e9', 'probe-e\u0301');
}

/** Whether just these two name one file in this folder. They are tried as they are, in a folder of their own. Throws as above. */
export function areOneName(folder: string, name: string, variant: string): boolean {
  const own = newBase(folder);
  try {
    mkdirSync(own);
    try {
      closeSync(openSync(`${own}/${name}`, 'wx'));
      return lstatSync(`${own}/${variant}`, { throwIfNoEntry: false }) !== undefined;
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  } catch (error) {
    throw writeError(error, folder);
  }
}

function isOneFile(folder: string, name: string, variant: string): boolean {
  const base = `${newBase(folder)}-`;
  try {
    closeSync(openSync(base + name, 'wx'));
    try {
      return lstatSync(base + variant, { throwIfNoEntry: false }) !== undefined;
    } finally {
      unlinkSync(base + name);
    }
  } catch (error) {
    throw writeError(error, folder);
  }
}

/** A name that the sweep knows, with what follows it: a killed run leaves its probe. */
function newBase(folder: string): string {
  return `${temporaryPrefix(folder)}0.0`;
}
