import { DrayError } from '../../api/error.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { type Commit, readCommit } from '../commit.ts';
import { leadsTo } from '../leads-to.ts';
import { listRefs, readRef } from '../refs.ts';
import { readRetention } from '../retention.ts';
import { readCollectionState } from './collection-state.ts';
import type { CollectionView } from './collection-view.ts';
import { findAvoided } from './find-avoided.ts';

/**
 * Makes sure that a ref may be given to a commit that exists: no collection has removed what it names. A
 * round that begins later meets the new ref (`publish.ts`).
 *
 * What a live ref names, and what is kept below it, is whole once the last round is sealed. Otherwise nothing
 * that the commit names may have been a candidate: one request for each segment.
 * @param branch A ref that may name the commit.
 * @throws `conflict`
 */
export async function checkWhole(
  store: ObjectStore,
  commit: { readonly commit: Commit; readonly hash: CommitHash },
  { branch, view, ...call }: CallOptions & { readonly branch: string; readonly view: CollectionView },
): Promise<void> {
  // First the state, then the ref: a round that is sealed now has seen what the ref named before.
  const read = await readCollectionState(store, call);
  if (!read) return;
  if (read.state.round !== view.round) await view.refresh();
  if (read.state.phase !== 'marked' && (await readRef(store, branch, call))?.commit === commit.hash) return;
  const avoided = await findAvoided(store, commit, view, call).catch((error: unknown) => {
    if (error instanceof DrayError && error.code === 'damaged') return error.data.key;
    throw error;
  });
  if (avoided === undefined) return;
  if (read.state.phase !== 'marked' && (await isKept(store, commit.hash, call))) return;
  const short = commit.hash.slice(0, 12);
  throw new DrayError(
    'conflict',
    `A collection of garbage may have removed content of the commit ${short}.`,
    {
      data: { commit: commit.hash, key: avoided, reason: 'collected' },
      advice: 'Name a commit that a branch or a tag has.',
    },
  );
}

/** Whether a branch or a tag leads to the commit, and it is not forgotten. */
async function isKept(store: ObjectStore, own: CommitHash, call: CallOptions): Promise<boolean> {
  if ((await readRetention(store, call))?.forgotten.includes(own)) return false;
  const refs = await Promise.all([listRefs(store, 'heads', call), listRefs(store, 'tags', call)]);
  const read = (hash: CommitHash) => readCommit(store, hash, call);
  for (const { commit: tip } of refs.flat())
    if (await leadsTo({ tip, own, base: undefined, read })) return true;
  return false;
}
