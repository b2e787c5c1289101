/**
 * Brings what was written to a file system to its disk, all at once: `syncfs` on Linux. Node has no call for it, so the C library is called
 * directly, in a thread of libuv's. Elsewhere there is no such call, and each file is synced by itself.
 */
import { close, closeSync, fdatasync, fsync, open, openSync, statfsSync } from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf, writeError } from './tree-writer-error.ts';

/** All that was written below the folder before. */
type SyncFileSystem = (folder: string) => Promise<void>;

export interface DiskSync {
  /** A file in its place, whose content is to outlive a power cut. */
  note(absolute: string): void;
  /** Something is going to be in its place, by somebody who syncs it where that has to be done for each file. */
  noteAny(): void;
  /** Resolves once all that was noted before is on the disk. Throws `io`: then nothing may be said of it. */
  sync(): Promise<void>;
}

/** Files that are synced by themselves are open at once. */
const FILES_AT_ONCE = 16;

const openFile = promisify(open);
const syncFile = promisify(fsync);
const closeFile = promisify(close);
const syncData = promisify(fdatasync);

let loaded: Promise<SyncFileSystem | undefined> | undefined;
/** Until this is known, files are noted one by one. */
let hasSyncfs = false;

export function openDiskSync(folder: string): DiskSync {
  loaded ??= load();
  let isDirty = false;
  let paths = new Set<string>();
  return {
    note(absolute) {
      isDirty = true;
      if (!hasSyncfs) paths.add(absolute);
    },
    noteAny() {
      isDirty = true;
    },
    async sync() {
      if (!isDirty) return;
      isDirty = false;
      const noted = paths;
      paths = new Set();
      const syncFileSystem = await loaded;
      try {
        if (syncFileSystem) await syncFileSystem(folder);
        else await syncFiles(noted);
      } catch (error) {
        isDirty = true;
        throw writeError(error, folder);
      }
    },
  };
}

async function load(): Promise<SyncFileSystem | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    const { default: koffi } = await import('koffi');
    const syncfs = koffi.load(null).func('int syncfs(int fd)');
    hasSyncfs = true;
    return async (folder) => {
      const fd = openSync(folder, 'r');
      try {
        const result = await promisify<number, number>(syncfs.async)(fd);
        if (result !== 0) throw new Error('the system could not write all of it to the disk');
      } finally {
        closeSync(fd);
      }
    };
  } catch {
    return undefined;
  }
}

/**
 * The content of one open file, before it has its time: with its size and its time it would pass for whole after a power cut. Throws Node's
 * errors.
 */
export async function syncContent(fd: number): Promise<void> {
  try {
    await syncData(fd);
  } catch (error) {
    // Some file systems, over a network as a rule, have no such call.
    if (errnoOf(error) !== 'EINVAL' && errnoOf(error) !== 'ENOTSUP') throw error;
  }
}

async function syncFiles(paths: ReadonlySet<string>): Promise<void> {
  const left = paths.values();
  const work = async () => {
    for (const path of left) await syncOne(path);
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, work));
}

async function syncOne(path: string): Promise<void> {
  try {
    // Windows syncs only what is open for writing.
    const fd = await openFile(path, process.platform === 'win32' ? 'r+' : 'r');
    try {
      await syncFile(fd);
    } finally {
      await closeFile(fd);
    }
  } catch (error) {
    const code = errnoOf(error) ?? '';
    // Gone, or replaced, by now; a link; what may only be read; a file system that cannot.
    if (!PASSED_OVER.has(code)) throw error;
  }
}

const PASSED_OVER: ReadonlySet<string> = new Set([
  'ENOENT',
  'EACCES',
  'EPERM',
  'EINVAL',
  'ENOTSUP',
  'EISDIR',
]);

/** Types of statfs(2), and of Linux's include/uapi/linux/magic.h, whose server decides when it writes to its disk. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
]);

/** The kind of file system that does not vouch for its disk; undefined where a sync is as good as the disk. @param stat For tests. */
export function findNetworkFileSystem(
  folder: string,
  stat: (folder: string) => { readonly type: number } = statfsSync,
): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return NETWORK_FILE_SYSTEMS.get(stat(folder).type >>> 0);
  } catch {
    return undefined;
  }
}
