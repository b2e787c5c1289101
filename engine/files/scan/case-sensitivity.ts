/**
 * Which names the file system of a folder treats as the same. Probes the file system itself, since mounts
 * differ.
 */
import { closeSync, lstatSync, mkdirSync, openSync, rmSync, unlinkSync } from 'node:fs';
import { temporaryPrefix } from '../write/temporary-names.ts';
import { writeError } from '../write/write-error.ts';

/** Whether `a` and `A` name one file in this folder, which must be writable. Throws `io` or `diskFull`. */
export function isCaseInsensitive(folder: string): boolean {
  return isOneFile(folder, 'probe-a', 'PROBE-A');
}

/**
 * Whether the composed (NFC) and decomposed (NFD) form of a letter name one file in this folder. Throws as
 * above.
 */
export function foldsUnicode(folder: string): boolean {
  return isOneFile(folder, 'probe-\u00e9', 'probe-e\u0301');
}

/**
 * Whether exactly these two names are one file in this folder. Probes them in a folder of their own. Throws
 * as above.
 */
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

/**
 * A probe's name in the form that the sweep of temporary files recognizes, since a killed run leaves its
 * probe.
 */
function newBase(folder: string): string {
  return `${temporaryPrefix(folder)}0.0`;
}
