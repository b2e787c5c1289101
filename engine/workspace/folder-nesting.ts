/**
 * Whether of two folders one lies in the other, whatever their names: a file system may take no notice of case or of Unicode form, and a
 * mount gives a folder a second place.
 */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

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
    return stats && stats.ino !== 0n ? `${stats.dev} ${stats.ino}` : undefined;
  } catch {
    return undefined;
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
