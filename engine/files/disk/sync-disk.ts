/**
 * Syncs all files that were written to a file system by one call, `syncfs` of Linux. Node does not offer it,
 * so Dray calls the C library in a thread of libuv. On other systems each file is synced by itself.
 */
import { close, closeSync, fdatasync, fsync, open, openSync, statfsSync } from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf, writeError } from '../write/write-error.ts';
import { bindCLibrary } from './c-library.ts';

interface DiskCalls {
  /** Syncs everything written so far to the folder's file system. */
  readonly syncFileSystem: (folder: string) => Promise<void>;
  /** Starts to write a file's dirty pages to the disk without waiting for them. */
  readonly startWriting: (fd: number) => Promise<void>;
}

export interface DiskSync {
  /** Notes a file in its place, for the next sync. */
  note(absolute: string): void;
  /** Notes a file whose writer syncs it where `syncfs` is missing. */
  noteAny(): void;
  /** Resolves once all noted files are on the disk. After an `io` error any of them may be missing there. */
  sync(): Promise<void>;
}

/** The number of files that are open at once for single syncs. */
const FILES_AT_ONCE = 16;

/** sync_file_range(2), from Linux's include/uapi/linux/fs.h: start writing, do not wait. */
const SYNC_FILE_RANGE_WRITE = 2;

const openFile = promisify(open);
const syncFile = promisify(fsync);
const closeFile = promisify(close);
const syncData = promisify(fdatasync);

let loaded: Promise<DiskCalls | undefined> | undefined;
/** False until `syncfs` is known to work; until then each file is noted. */
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
      const calls = await loaded;
      try {
        if (calls) await calls.syncFileSystem(folder);
        else await syncFiles(noted);
      } catch (error) {
        isDirty = true;
        throw writeError(error, folder);
      }
    },
  };
}

async function load(): Promise<DiskCalls | undefined> {
  const calls = await bindCLibrary(['linux'], (library): DiskCalls => {
    const syncfs = promisify<number, number>(library.func('int syncfs(int fd)').async);
    const syncFileRange = promisify<number, number, number, number, number>(
      library.func('int sync_file_range(int fd, int64 offset, int64 nbytes, uint flags)').async,
    );
    return {
      async syncFileSystem(folder) {
        const fd = openSync(folder, 'r');
        try {
          if ((await syncfs(fd)) !== 0) throw new Error('the system could not write all of it to the disk');
        } finally {
          closeSync(fd);
        }
      },
      // The sync reports a failure.
      startWriting: async (fd) => void (await syncFileRange(fd, 0, 0, SYNC_FILE_RANGE_WRITE)),
    };
  });
  hasSyncfs = calls !== undefined;
  return calls;
}

/**
 * Starts writing a large file to the disk while more of it arrives, so that its sync takes less time. Linux
 * only. Keep the file open until this resolves.
 */
export async function startWriteback(fd: number): Promise<void> {
  loaded ??= load();
  await (await loaded)?.startWriting(fd);
}

/**
 * Syncs the content of one open file. Call it before the file gets its time: after a power cut Dray takes a
 * file with the right size and time for complete. Throws Node's errors.
 */
export async function syncContent(fd: number): Promise<void> {
  try {
    await syncData(fd);
  } catch (error) {
    // Some file systems, mostly on networks, do not support it.
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
    // Windows syncs a file only if it is open for writing.
    const fd = await openFile(path, process.platform === 'win32' ? 'r+' : 'r');
    try {
      await syncFile(fd);
    } finally {
      await closeFile(fd);
    }
  } catch (error) {
    const code = errnoOf(error) ?? '';
    // The file was removed or replaced, is a link or read-only, or the file system does not support syncs.
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

/**
 * Network file systems by their type in statfs(2) (Linux: include/uapi/linux/magic.h). Their server decides
 * when it writes to its disk.
 */
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

/**
 * The name of the network file system that holds the folder; undefined on a disk of this machine.
 * @param stat For tests.
 */
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
