/**
 * Whether of two folders one lies in the other, whatever their names: a file system may take no notice of case or of Unicode form, and a
 * mount gives a folder a second place.
 */
import { realpathSync, statSync } from 'node:fs';
import { dirname, win32 } from 'node:path';

export type Nesting = 'same' | 'firstInside' | 'secondInside';

/** The same for all paths to one folder; undefined where there is none, or nothing tells it from others. */
export type FolderIdentity = (path: string) => string | undefined;

/** @param first Absolute, as `second`, with links resolved as far as there is anything. */
export function nestingOf(
  first: string,
  second: string,
  identityOf: FolderIdentity = folderIdentity,
): Nesting | undefined {
  const [one, two] = [identityOf(first), identityOf(second)];
  if (one !== undefined && one === two) return 'same';
  if (liesBelow(first, two, identityOf)) return 'firstInside';
  return liesBelow(second, one, identityOf) ? 'secondInside' : undefined;
}

export function folderIdentity(path: string): string | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && identityFrom({ path, ...stats });
  } catch {
    return undefined;
  }
}

/**
 * For who has the folder's stats. On Windows `dev` is the volume's serial number, which an image of a disk has too, and so have its
 * folders their ids: there the volume counts as well.
 */
export function identityFrom(
  { dev, ino, path }: { readonly dev: bigint; readonly ino: bigint; readonly path: string },
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  // 0 is given where there are no inodes, -1 (FILE_INVALID_FILE_ID) for an id of more than 64 bits, as ReFS has them.
  if (ino === 0n || BigInt.asIntN(64, ino) === -1n) return undefined;
  return platform === 'win32' ? `${volumeOf(path)} ${dev} ${ino}` : `${dev} ${ino}`;
}

/** Of a folder on Windows. A letter of `subst`'s or of a network drive stands for another place, which the system knows. */
function volumeOf(path: string): string {
  return win32.parse(finalPathOf(path)).root.toLowerCase();
}

function finalPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Some drivers of disks in memory cannot tell.
    return path;
  }
}

function liesBelow(path: string, outer: string | undefined, identityOf: FolderIdentity): boolean {
  if (outer === undefined) return false;
  for (let at = path; dirname(at) !== at; ) {
    at = dirname(at);
    if (identityOf(at) === outer) return true;
  }
  return false;
}
