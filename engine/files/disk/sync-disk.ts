/**
 * Brings all that was written to a file system to its disk at once, by `syncfs` on Linux. Node has no such
 * call, so the C library is called directly, in a thread of libuv. Other systems have none, and each file is
 * synced by itself.
 */
import { close, closeSync, fdatasync, fsync, open, openSync, statfsSync } from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf, writeError } from '../write/write-error.ts';
import { bindCLibrary } from './c-library.ts';

interface DiskCalls {
  /** Syncs all that was written below the folder so far. */
  readonly syncFileSystem: (folder: string) => Promise<void>;
  /** Starts to write a file's dirty pages to the disk, and does not wait for them. */
  readonly startWriting: (fd: number) => Promise<void>;
}

export interface DiskSync {
  /** Notes a file in its place, for the next sync. */
  note(absolute: string): void;
  /** Notes that a file will be there whose writer syncs it by itself if `syncfs` is missing. */
  noteAny(): void;
  /** Resolves once all noted files are on the disk. Throws `io`: then nobody knows which of them are. */
  sync(): Promise<void>;
}

/** Files that are open at once to be synced one by one. */
const FILES_AT_ONCE = 16;

/** sync_file_range(2), from Linux's include/uapi/linux/fs.h: start, and wait for nothing. */
const SYNC_FILE_RANGE_WRITE = 2;

const openFile = promisify(open);
const syncFile = promisify(fsync);
const closeFile = promisify(close);
const syncData = promisify(fdatasync);

let loaded: Promise<DiskCalls | undefined> | undefined;
/** Until it is known whether `syncfs` works, files are noted one by one. */
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
      // A failure shows again at the sync.
      startWriting: async (fd) => void (await syncFileRange(fd, 0, 0, SYNC_FILE_RANGE_WRITE)),
    };
  });
  hasSyncfs = calls !== undefined;
  return calls;
}

/**
 * Lets the disk work on a large file while more of it arrives, so that the sync at its end waits for less. On
 * Linux alone. Keep the file open until this resolves.
 */
export async function startWriteback(fd: number): Promise<void> {
  loaded ??= load();
  await (await loaded)?.startWriting(fd);
}

/**
 * Syncs the content of one open file. Call it before the file gets its time: with the right size and time a
 * file passes for whole after a power cut. Throws Node's errors.
 */
export async function syncContent(fd: number): Promise<void> {
  try {
    await syncData(fd);
  } catch (error) {
    // Some file systems, mostly on networks, have no such call.
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
    // The file is gone or replaced by now, is a link or read-only, or the file system cannot sync.
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
 * Network file systems, whose server decides when it writes to its disk, by their type in statfs(2) and
 * Linux's include/uapi/linux/magic.h.
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
