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
 * their writes.
 */
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';

export function etagOf(stats: BigIntStats): string {
  return `${stats.size.toString(36)}-${stats.mtimeNs.toString(36)}-${stats.ino.toString(36)}`;
}

let lastStampUs = 0;

/** Gives the file a modification time that no other write of this process has. */
export async function stamp(file: FileHandle, clock: Clock): Promise<void> {
  const withinMs = Math.floor((clock.monotonicMs() % 1) * 1000);
  lastStampUs = Math.max(lastStampUs + 1, Math.floor(clock.nowMs()) * 1000 + withinMs);
  const seconds = lastStampUs / 1_000_000;
  await file.utimes(seconds, seconds);
}
