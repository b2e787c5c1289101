/** Names that are two at the source and one on the file system of a local destination: writing one would overwrite the other. */
import { statfsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DrayError } from '../api/error.ts';
import { collisionFinder, type NameCollision } from '../model/name-collisions.ts';
import { foldsUnicode, isCaseInsensitive } from '../workspace/case-sensitivity.ts';
import { folderIdentity } from '../workspace/folder-nesting.ts';
import type { TreeRun } from './tree-run.ts';
import type { LocalSide } from './tree-sides.ts';

/** Why the path may not be written. Asked in order, of each path once. */
export type NameClashes = (path: string) => DrayError | undefined;

/** Linux, `statfs`: vfat, exfat, ntfs, ntfs3, fuseblk (NTFS as well), cifs, smb2, hfs+. */
const FOLDING_TYPES: ReadonlySet<number> = new Set([
  0x4d44, 0x2011bab0, 0x5346544e, 0x7366746e, 0x65735546, 0xff534d42, 0xfe534d42, 0x482b,
]);

/** Undefined where any two names are two. As for clones, `DRAY_ASSUME_CASE_INSENSITIVE=1` asks for the check anywhere. */
export function clashesOf({ context, destination, request }: TreeRun): NameClashes | undefined {
  if (destination.kind !== 'local') return undefined;
  const isAssumed = context.environment.DRAY_ASSUME_CASE_INSENSITIVE === '1';
  if (!isAssumed && !mayFold(destination)) return undefined;
  /** Found out at the first two names that would be one: finding out writes a file. */
  let isFolding: boolean | undefined = isAssumed ? true : undefined;
  const finder = collisionFinder();
  let shut: NameCollision | undefined;
  return (path) => {
    if (isFolding === false) return undefined;
    if (shut && path.startsWith(shut.path)) return clash(path, shut);
    const [found] = finder.add(path);
    if (!found) return undefined;
    isFolding ??= request.dryRun ? foldsOwnName(destination) : folds(destination);
    if (!isFolding) return undefined;
    // All of a folder goes with its name.
    if (found.path.endsWith('/')) shut = found;
    return clash(path, found);
  };
}

function clash(path: string, { other, path: name }: NameCollision): DrayError {
  const message = `"${path}" was left out, because this file system takes ${other} and ${name} for one name.`;
  return new DrayError('unsafePath', message, { data: { path, other } });
}

function mayFold({ root }: LocalSide): boolean {
  if (process.platform !== 'linux') return true;
  for (let at = root; ; at = dirname(at)) {
    try {
      return FOLDING_TYPES.has(statfsSync(at).type);
    } catch {
      if (dirname(at) === at) return false;
    }
  }
}

function folds({ root }: LocalSide): boolean {
  try {
    return isCaseInsensitive(root) || foldsUnicode(root);
  } catch {
    // What cannot be written there fails by itself.
    return false;
  }
}

/** What can be found out without writing. */
function foldsOwnName({ root }: LocalSide): boolean {
  const name = basename(root);
  const lower = name.toLowerCase();
  const otherwise = name === lower ? name.toUpperCase() : lower;
  const own = folderIdentity(root);
  return own !== undefined && otherwise !== name && folderIdentity(join(dirname(root), otherwise)) === own;
}
