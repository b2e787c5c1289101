/**
 * The etag of a file: `size-mtimeNs-inode`, each in base 36. It costs one lstat and no reading.
 *
 * It must change with every write, also when two writes of the same length fall into one tick of the file
 * system's clock:
 * - A write over an object makes a new file while the old one still exists, so the inodes differ.
 * - The write after that may get the first one's inode back.
 *
 * So each file gets a time of its own, in microseconds, before it is put in place. No two writes of one
 * process share it. Two processes cannot use it for one file either, because several system calls lie between
 * their writes. On a disk with coarser times (vfat: 2 s) a replacement is given a later time than the file
 * that it replaces (`stampAfter`). On a disk that keeps no times, the inode and the time of writing remain.
 */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';

export function etagOf(stats: BigIntStats): string {
  return `${stats.size.toString(36)}-${stats.mtimeNs.toString(36)}-${stats.ino.toString(36)}`;
}

let lastStampUs = 0;

/** Gives the file a modification time that no other write of this process has. */
export async function stamp(file: FileHandle, clock: Clock): Promise<void> {
  const withinMs = Math.floor((clock.monotonicMs() % 1) * 1000);
  lastStampUs = Math.max(lastStampUs + 1, Math.floor(clock.nowMs()) * 1000 + withinMs);
  await setTime(file, lastStampUs / 1_000_000);
}

/** Larger than the steps of the coarsest times. */
const LATER_S = 2;

/**
 * Gives a staged file a later time than the one that it replaces, where the disk's steps made them equal.
 * @returns Its stat then; undefined if it was later already.
 */
export async function stampAfter(
  path: string,
  stats: { readonly staged: BigIntStats; readonly present: BigIntStats },
): Promise<BigIntStats | undefined> {
  const { present, staged } = stats;
  if (staged.mtimeNs > present.mtimeNs) return undefined;
  await using file = await open(path, 'r+');
  await setTime(file, Number(present.mtimeNs / 1_000_000_000n) + LATER_S);
  await file.sync();
  return file.stat({ bigint: true });
}

const NOT_KEPT = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** The file is this process's own, so a refusal is that of a disk that keeps no times. */
async function setTime(file: FileHandle, seconds: number): Promise<void> {
  try {
    await file.utimes(seconds, seconds);
  } catch (error) {
    if (!NOT_KEPT.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
