/** A disk in memory, where one exists: tests and figures measure Dray, not a disk. */
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

const MEMORY_FOLDER = '/dev/shm';
const TMPFS_MAGIC = 0x01021994;
/** Kept free for running programs and for cached pages of files on other disks. */
const KEPT_FREE_BYTES = 2 * 1024 ** 3;

export interface MemoryDisk {
  readonly folder: string;
  /**
   * The free bytes of both the disk and the machine's memory, because the disk's own limit may be all of the
   * memory.
   */
  readonly freeBytes: number;
  /** Each file, folder and further hard link takes one. */
  readonly freeInodes: number;
}

/** Undefined where no such disk exists. */
export async function findMemoryDisk(): Promise<MemoryDisk | undefined> {
  const found = await statfs(MEMORY_FOLDER).catch(() => undefined);
  if (found?.type !== TMPFS_MAGIC) return undefined;
  const { bavail, bsize, ffree, files } = found;
  const unusedBytes = Math.max(0, process.availableMemory() - KEPT_FREE_BYTES);
  return {
    folder: MEMORY_FOLDER,
    freeBytes: Math.min(bavail * bsize, unusedBytes),
    // A disk without a fixed number of inodes reports 0 of 0.
    freeInodes: files > 0 ? ffree : Number.POSITIVE_INFINITY,
  };
}

export interface WantedRoom {
  readonly bytes: number;
  /** Default: no requirement. */
  readonly inodes?: number;
}

/** Enough for a small server and its data. */
const USUAL_ROOM: WantedRoom = { bytes: 4 * 1024 ** 3 };

/**
 * Makes a folder in memory if it has the wanted room now. @param otherwise The parent otherwise; default: the
 * system's temporary folder.
 */
export async function roomyFolder(
  { bytes, inodes = 0 }: WantedRoom = USUAL_ROOM,
  otherwise = tmpdir(),
): Promise<string> {
  const memory = await findMemoryDisk();
  const hasRoom = memory && memory.freeBytes > bytes && memory.freeInodes > inodes;
  return hasRoom ? memory.folder : otherwise;
}
