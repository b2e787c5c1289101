/** A disk in memory, where there is one: what tests and figures measure is Dray, not a disk. */
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

const MEMORY_FOLDER = '/dev/shm';
const TMPFS_MAGIC = 0x01021994;
/** For the programs that run meanwhile, and the pages of files on other disks. */
const KEPT_FREE_BYTES = 2 * 1024 ** 3;

export interface MemoryDisk {
  readonly folder: string;
  /** Of the disk, and of the memory that it is in: its own limit may be all that the machine has. */
  readonly freeBytes: number;
  /** Each file and folder takes one, and each further name of a file. */
  readonly freeInodes: number;
}

/** Undefined where there is none. */
export async function findMemoryDisk(): Promise<MemoryDisk | undefined> {
  const found = await statfs(MEMORY_FOLDER).catch(() => undefined);
  if (found?.type !== TMPFS_MAGIC) return undefined;
  const { bavail, bsize, ffree, files } = found;
  const unusedBytes = Math.max(0, process.availableMemory() - KEPT_FREE_BYTES);
  return {
    folder: MEMORY_FOLDER,
    freeBytes: Math.min(bavail * bsize, unusedBytes),
    // A disk without a fixed number of inodes says 0 of 0.
    freeInodes: files > 0 ? ffree : Number.POSITIVE_INFINITY,
  };
}

export interface WantedRoom {
  readonly bytes: number;
  /** Default: whatever there is. */
  readonly inodes?: number;
}

/** Of a small server and its data. */
const USUAL_ROOM: WantedRoom = { bytes: 4 * 1024 ** 3 };

/** In memory, where there is that much room now. @param otherwise Default: the system's temporary folder. */
export async function roomyFolder(
  { bytes, inodes = 0 }: WantedRoom = USUAL_ROOM,
  otherwise = tmpdir(),
): Promise<string> {
  const memory = await findMemoryDisk();
  const hasRoom = memory && memory.freeBytes > bytes && memory.freeInodes > inodes;
  return hasRoom ? memory.folder : otherwise;
}
