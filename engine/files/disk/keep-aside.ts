/** Keeps what a file or a link is now under another name, for who is about to replace or remove it. */
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
 * A second name where the file system has that, since files are never changed, only replaced; elsewhere a
 * copy, with its time if that can be. A link is never followed. Throws Node's errors.
 * @param to Where nothing lies.
 */
export async function keepAside(from: string, to: string): Promise<void> {
  const stats = lstatSync(from, { bigint: true });
  // Some systems follow it to give a second name to what it leads to.
  if (stats.isSymbolicLink()) return symlinkSync(readlinkSync(from, 'buffer'), to);
  try {
    linkSync(from, to);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw error;
    await copyAside({ from, to, mtimeNs: stats.mtimeNs });
  }
}

/** For another file system. A time that cannot be set there is left off: what is kept for is the content. */
export async function copyAside(copy: {
  readonly from: string;
  readonly to: string;
  readonly mtimeNs: bigint;
}): Promise<void> {
  const setMtime = await loadSetMtime();
  copyFileSync(copy.from, copy.to, constants.COPYFILE_FICLONE);
  // The system's own copy has kept it, and a file that is open for reading alone takes none.
  if (process.platform === 'win32') return;
  try {
    const fd = openSync(copy.to, constants.O_RDONLY);
    try {
      setMtime(fd, copy.mtimeNs);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The mount takes no times, or the copy's mode keeps even its owner out.
  }
}
