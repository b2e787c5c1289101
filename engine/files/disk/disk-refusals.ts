/**
 * Modes and times that a disk does not keep (vfat, exFAT, CIFS, some FUSE). The content is there, so a
 * refusal is counted and fails nothing. One that the user's rights explain is an error as always.
 */
import { fchmodSync, fstatSync } from 'node:fs';
import { type SetMtime, setMtimeRounded } from './set-mtime.ts';

/** How many modes and how many times were refused: two numbers that threads share. */
export type DiskRefusals = Int32Array<SharedArrayBuffer>;

export function createDiskRefusals(): DiskRefusals {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

const MODES = 0;
const TIMES = 1;
const NOT_KEPT = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

export interface FileAttributes {
  readonly mode?: number | undefined;
  readonly mtimeNs?: bigint | undefined;
}

/**
 * Sets the mode, then the time, of an open file or folder.
 * @throws Node's errors, but for those of a disk that keeps no such attribute.
 */
export function setAttributes(
  fd: number,
  { mode, mtimeNs }: FileAttributes,
  { refusals, setMtime }: { readonly refusals?: DiskRefusals | undefined; readonly setMtime?: SetMtime },
): void {
  if (mode !== undefined) attempt(fd, MODES, refusals, () => fchmodSync(fd, mode));
  if (mtimeNs !== undefined) attempt(fd, TIMES, refusals, () => (setMtime ?? setMtimeRounded)(fd, mtimeNs));
}

export function countRefusals(refusals: DiskRefusals): { readonly modes: number; readonly times: number } {
  return { modes: Atomics.load(refusals, MODES), times: Atomics.load(refusals, TIMES) };
}

function attempt(fd: number, kind: number, refusals: DiskRefusals | undefined, set: () => void): void {
  try {
    set();
  } catch (error) {
    if (!isOfDisk(fd, (error as NodeJS.ErrnoException).code ?? '')) throw error;
    if (refusals) Atomics.add(refusals, kind, 1);
  }
}

/** The system allows the owner of a file and root to set both, so a refusal to them is the disk's. */
function isOfDisk(fd: number, code: string): boolean {
  if (NOT_KEPT.has(code)) return true;
  if (code !== 'EPERM') return false;
  const user = process.geteuid?.();
  return user === 0 || user === fstatSync(fd).uid;
}
