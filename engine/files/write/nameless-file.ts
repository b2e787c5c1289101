/**
 * Temporary files without a name (O_TMPFILE, open(2)). They are linked into the tree when they are complete,
 * and a killed process leaves none behind. A rename between two folders locks the whole file system, and a
 * link does not: two threads write small files a third faster (ext4, 2 cores). Linux only.
 */
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { bindCLibrary } from '../disk/c-library.ts';

export interface NamelessFiles {
  /** Opens a new file for writing on the folder's file system. Throws Node's errors. */
  readonly open: (folder: string, mode: number) => number;
  /**
   * Gives an open file this name. False when the name is taken or unavailable; a link there is not followed.
   */
  readonly link: (fd: number, absolute: string) => boolean;
}

/** Values of Linux's ABI (include/uapi/linux/fcntl.h); Node has no constant for them. */
const AT_FDCWD = -100;
const AT_SYMLINK_FOLLOW = 0x400;
const AT_EMPTY_PATH = 0x1000;
const TMPFILE_BIT = 0o20000000;

/** Tries to make a file of the name `probe`. Undefined where the system, file system or C library cannot. */
export async function loadNamelessFiles(probe: string): Promise<NamelessFiles | undefined> {
  const linkat = await bindCLibrary(
    ['linux'],
    (library): Linkat =>
      library.func('int linkat(int fromFolder, const char *from, int toFolder, const char *to, int flags)'),
  );
  if (!linkat) return undefined;
  try {
    return [linkByDescriptor, linkByProc]
      .map((link) => bindLinkat((fd, absolute) => link(linkat, fd, absolute)))
      .find((files) => works(files, probe));
  } catch {
    return undefined;
  }
}

type Linkat = (fromFolder: number, from: string, toFolder: number, to: string, flags: number) => number;

/**
 * Linux allows it to the process that opened the file from 6.10 on, and before that to root. It needs no
 * `/proc`.
 */
function linkByDescriptor(linkat: Linkat, fd: number, absolute: string): boolean {
  return linkat(fd, '', AT_FDCWD, absolute, AT_EMPTY_PATH) === 0;
}

function linkByProc(linkat: Linkat, fd: number, absolute: string): boolean {
  return linkat(AT_FDCWD, `/proc/self/fd/${fd}`, AT_FDCWD, absolute, AT_SYMLINK_FOLLOW) === 0;
}

function bindLinkat(link: NamelessFiles['link']): NamelessFiles {
  // O_DIRECTORY is a part of O_TMPFILE, and differs between processors.
  const flags = TMPFILE_BIT | constants.O_DIRECTORY | constants.O_WRONLY;
  return { open: (folder, mode) => openSync(folder, flags, mode), link };
}

function works(files: NamelessFiles, probe: string): boolean {
  const fd = files.open(probe.slice(0, probe.lastIndexOf('/')), 0o666);
  try {
    if (!files.link(fd, probe)) return false;
  } finally {
    closeSync(fd);
  }
  unlinkSync(probe);
  return true;
}
