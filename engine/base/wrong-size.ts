/**
 * Files whose `stat` gives a size that their content does not have, as those of /proc (0 bytes), of /sys (a
 * page) and of some FUSE disks. Read by their size they would come out empty or cut.
 */
import { readSync } from 'node:fs';
import { DrayError } from '../api/error.ts';

/** Whether a regular file that is said to be empty has content. Costs one read of an empty file. */
export function hasUnstatedContent(descriptor: number, sizeBytes: number | bigint): boolean {
  return Number(sizeBytes) === 0 && readSync(descriptor, new Uint8Array(1), 0, 1, 0) > 0;
}

/** The reason in `data.reason`. */
export const WRONG_SIZE = 'wrongSize';

export function describeWrongSize(path: string): string {
  return (
    `${path} has another size than its file system says, as files of /proc and /sys have. ` +
    'Save its content in an ordinary file first.'
  );
}

export function wrongSize(path: string): DrayError {
  return new DrayError('io', describeWrongSize(path), { data: { path, reason: WRONG_SIZE } });
}
