/**
 * The changes to another commit from what the files here are based on: the base commit, or the rows of the
 * index while another commit arrives. The base may have been forgotten and its segments collected. Then the
 * rows stand in for them.
 */
import { isDamage } from '../../../base/read-checked.ts';
import type { Change } from '../../../model/diff.ts';
import type { CallOptions, ObjectStore } from '../../../remotes/object-store.ts';
import { diffCommits, diffEntries } from '../../../repository/diff-commits.ts';
import {
  type Manifest,
  type SegmentRef,
  sameTotals,
  totalsOfEntries,
} from '../../../repository/manifest/manifest.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { readSegment } from '../../../repository/manifest/stored-segment.ts';
import { forgottenBase, isForgotten } from '../../retention/forgotten.ts';
import type { Session } from '../open-workspace.ts';
import { scopeOf } from '../workspace-scope.ts';
import { type BaseCommit, hasBaseRows } from './base-commit.ts';

/**
 * As far as the workspace holds them.
 * @throws `forgotten` if the base was, and neither the store nor the index knows what it held
 */
export function changesFromBase(
  session: Session,
  store: ObjectStore,
  { commit, hash, isMixed }: BaseCommit,
  target: { readonly manifest: Manifest },
): AsyncGenerator<readonly Change[], void, undefined> {
  const { signal } = session.context;
  const scope = scopeOf(session);
  if (isMixed)
    return diffEntries(session.index.files.unplacedBase(), readEntries(store, target, { scope, signal }));
  const read = async (segment: SegmentRef, options: CallOptions) => {
    try {
      return await readSegment(store, segment, options);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const rows = hasBaseRows(session)
        ? session.index.files.unplacedBaseEntries(segment.first, segment.last)
        : [];
      // Of a part, the rows are all that is asked for.
      if ((scope && hasBaseRows(session)) || sameTotals(totalsOfEntries(rows), segment)) return rows;
      throw (await isForgotten(store, hash!, { signal }).catch(() => false)) ? forgottenBase(hash!) : error;
    }
  };
  return diffCommits(store, commit && { ...commit, readSegment: read }, target, { scope, signal });
}
