/** Detects whether a disk is mounted at a path, and whether it was mounted since the last check. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

export interface MountedDisk {
  /** Undefined while the path does not exist. */
  readonly device: string | undefined;
  /** The path is the root of a disk, not a folder of another one. */
  readonly isRoot: boolean;
}

export function readMountedDisk(path: string): MountedDisk {
  try {
    const { dev, ino } = statSync(path);
    return { device: `${dev}:${ino}`, isRoot: statSync(dirname(path)).dev !== dev };
  } catch {
    return { device: undefined, isRoot: false };
  }
}

/**
 * An empty folder waits at most mount points for the disk: to see that folder again is no mount. A path
 * inside a disk appears with it.
 */
export function wasMounted(before: MountedDisk | undefined, now: MountedDisk): boolean {
  if (!before || now.device === undefined || now.device === before.device) return false;
  return now.isRoot || before.device === undefined;
}
