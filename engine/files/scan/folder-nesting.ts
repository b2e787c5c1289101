/**
 * Whether one of two folders contains the other, whatever their names: a file system may ignore case or
 * Unicode form, and a mount gives a folder a second path.
 */
import { realpathSync, statSync } from 'node:fs';
import { dirname, win32 } from 'node:path';

export type Nesting = 'same' | 'firstInside' | 'secondInside';

/** The same for all paths to one folder; undefined when it does not exist or has no usable id. */
export type FolderIdentity = (path: string) => string | undefined;

/** @param first Absolute, like `second`, with links resolved as far as the path exists. */
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
 * For callers that have the folder's stats. On Windows `dev` is the volume's serial number, which an image of
 * a disk shares, as its folders share their ids: there the volume counts too.
 */
export function identityFrom(
  { dev, ino, path }: { readonly dev: bigint; readonly ino: bigint; readonly path: string },
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  // Systems without inodes report 0; an id of more than 64 bits, as on ReFS, is reported as -1
  // (FILE_INVALID_FILE_ID).
  if (ino === 0n || BigInt.asIntN(64, ino) === -1n) return undefined;
  return platform === 'win32' ? `${volumeOf(path)} ${dev} ${ino}` : `${dev} ${ino}`;
}

/** The volume of a folder on Windows. The system resolves drive letters of `subst` and of network drives. */
function volumeOf(path: string): string {
  return win32.parse(finalPathOf(path)).root.toLowerCase();
}

function finalPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Some RAM disk drivers do not support it.
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
