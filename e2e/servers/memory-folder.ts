/** A disk in memory, where there is one: what tests and figures measure is Dray, not a disk. */
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

const MEMORY_FOLDER = '/dev/shm';
const TMPFS_MAGIC = 0x01021994;

export interface WantedRoom {
  readonly bytes: number;
  /** Files and folders. Default: whatever there is. */
  readonly inodes?: number;
}

/** Of a small server and its data. */
const USUAL_ROOM: WantedRoom = { bytes: 4 * 1024 ** 3 };

/** Undefined where there is none. */
export async function findMemoryFolder(): Promise<string | undefined> {
  const found = await statfs(MEMORY_FOLDER).catch(() => undefined);
  return found?.type === TMPFS_MAGIC ? MEMORY_FOLDER : undefined;
}

/** In memory, where there is that much room now. @param otherwise Default: the system's temporary folder. */
export async function roomyFolder(
  { bytes, inodes = 0 }: WantedRoom = USUAL_ROOM,
  otherwise = tmpdir(),
): Promise<string> {
  const memory = await findMemoryFolder();
  if (memory === undefined) return otherwise;
  const { bavail, bsize, ffree, files } = await statfs(memory);
  // A disk without a fixed number of inodes says 0 of 0.
  const hasRoom = bavail * bsize > bytes && (files === 0 || ffree > inodes);
  return hasRoom ? memory : otherwise;
}
