/**
 * Names of the source that are the same on the destination's file system: writing one would overwrite the
 * other.
 */
import { DrayError } from '../../../api/error.ts';
import { type AreOne, collisionFinder, type NameCollision } from '../../../model/name-collisions.ts';
import type { TreeRun } from '../copy-run.ts';
import { askFileSystem } from './same-name-probe.ts';

/** Returns why the path may not be written. Call in order, once for each path. */
export type NameClashes = (path: string) => DrayError | undefined;

/**
 * Undefined where all names differ. As for clones, `DRAY_ASSUME_CASE_INSENSITIVE=1` forces the check
 * anywhere.
 */
export async function clashesOf({
  context,
  destination,
  request,
}: TreeRun): Promise<NameClashes | undefined> {
  if (destination.kind !== 'local') return undefined;
  if (context.environment.DRAY_ASSUME_CASE_INSENSITIVE === '1') return createNameClashes(() => true);
  const areOne = await askFileSystem(destination, { mayWrite: !request.dryRun });
  return areOne && createNameClashes(areOne);
}

export function createNameClashes(areOne: AreOne): NameClashes {
  const finder = collisionFinder(areOne);
  let shut: NameCollision | undefined;
  return (path) => {
    if (shut && path.startsWith(shut.path)) return clash(path, shut);
    const [found] = finder.add(path);
    if (!found) return undefined;
    // A refused folder refuses everything in it.
    if (found.path.endsWith('/')) shut = found;
    return clash(path, found);
  };
}

function clash(path: string, { other, path: name }: NameCollision): DrayError {
  const message = `"${path}" was left out, because this file system treats ${other} and ${name} as one name.`;
  return new DrayError('unsafePath', message, { data: { path, other } });
}
