/** Keeps a file or a link under a second name before a caller replaces or removes it. */
import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { errnoOf } from '../write/write-error.ts';
import { loadSetMtime } from './set-mtime.ts';

/**
 * Gives the file a hard link. That is enough, because Dray replaces files and never changes them. Without
 * hard links it copies the file, with its time where possible. Never follows a link. Throws Node's errors.
 * @param to An unused path.
 */
export async function keepAside(from: string, to: string): Promise<void> {
  const stats = lstatSync(from, { bigint: true });
  // On some systems `link` follows a symbolic link.
  if (stats.isSymbolicLink()) return symlinkSync(readlinkSync(from, 'buffer'), to);
  try {
    linkSync(from, to);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw error;
    await copyAside({ from, to, mtimeNs: stats.mtimeNs });
  }
}

/** Copies to another file system. The copy keeps its content even where its time cannot be set. */
export async function copyAside(copy: {
  readonly from: string;
  readonly to: string;
  readonly mtimeNs: bigint;
}): Promise<void> {
  const setMtime = await loadSetMtime();
  copyFileSync(copy.from, copy.to, constants.COPYFILE_FICLONE);
  // There the system's copy keeps the time, and a file that is open for reading accepts none.
  if (process.platform === 'win32') return;
  try {
    const fd = openSync(copy.to, constants.O_RDONLY);
    try {
      setMtime(fd, copy.mtimeNs);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The mount accepts no times, or the copy's mode denies access to its owner.
  }
}
