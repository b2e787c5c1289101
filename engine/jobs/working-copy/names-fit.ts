/** Checks before anything is written that this file system can hold all the names of a commit. */
import { DrayError } from '../../api/error.ts';
import { foldsUnicode, isCaseInsensitive } from '../../files/scan/case-sensitivity.ts';
import { collisionFinder, type NameCollision } from '../../model/name-collisions.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';

const NAMED_MAX = 20;

/**
 * Where case or Unicode form does not count, two entries may share one name, and the second would overwrite
 * the first. `DRAY_ASSUME_CASE_INSENSITIVE=1` forces the check anywhere, to try a dataset for such systems.
 * @throws `unsafePath` naming the pairs
 */
export async function checkNamesFit(session: Session, store: ObjectStore, commit: Commit): Promise<void> {
  const folder = session.workspace.temporaryFolder;
  const isAssumed = session.context.environment.DRAY_ASSUME_CASE_INSENSITIVE === '1';
  if (!isAssumed && !isCaseInsensitive(folder) && !foldsUnicode(folder)) return;
  const finder = collisionFinder();
  const collisions: NameCollision[] = [];
  for await (const entries of readEntries(store, commit, {
    scope: scopeOf(session),
    signal: session.context.signal,
  })) {
    for (const entry of entries) collisions.push(...finder.add(entry.path));
  }
  if (collisions.length === 0) return;
  const pairs = collisions.slice(0, NAMED_MAX).map(({ path, other }) => `${other} and ${path}`);
  const more = collisions.length > NAMED_MAX ? ` and ${collisions.length - NAMED_MAX} more` : '';
  throw new DrayError(
    'unsafePath',
    `This file system treats different names as one: ${pairs.join('; ')}${more}. Nothing was written. ` +
      'Rename one of each pair where the dataset was made, and push.',
    { data: { pairs: collisions.slice(0, NAMED_MAX), count: collisions.length } },
  );
}
