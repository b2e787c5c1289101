/** Keeps for a merge only the changes of one side that can conflict with changes of the other. */
import { firstIndexWhere } from '../../../base/sorted-search.ts';
import type { Change } from '../../../model/diff.ts';
import { comparePaths } from '../../../model/entry.ts';

/**
 * A job may change millions of paths where the branch has changed few. A change is near another when they
 * have one path, or one lies in a folder with the other's name.
 */
export async function changesNear(
  ours: AsyncIterable<readonly Change[]>,
  theirs: readonly Change[],
): Promise<Change[]> {
  const paths = new Set(theirs.map(({ path }) => path));
  const isAbove = (path: string) => {
    const folder = path.endsWith('/') ? path : `${path}/`;
    const at = firstIndexWhere(theirs, 0, (change) => comparePaths(change.path, folder) >= 0);
    return theirs[at]?.path.startsWith(folder) ?? false;
  };
  const near: Change[] = [];
  for await (const batch of ours)
    for (const change of batch)
      if (paths.has(change.path) || isAbove(change.path) || isBelow(change.path, paths)) near.push(change);
  return near;
}

/** Whether a folder above the path is one of these, as a file or as an empty folder. */
function isBelow(path: string, paths: ReadonlySet<string>): boolean {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
    if (paths.has(path.slice(0, at)) || paths.has(path.slice(0, at + 1))) return true;
  return false;
}
