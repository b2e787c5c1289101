import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { type Commit, readCommit } from '../commit.ts';
import { RETENTION_KEY } from '../keys.ts';
import { leadsTo } from '../leads-to.ts';
import { readRef } from '../refs.ts';
import { checkLength, readRetention } from '../retention.ts';
import { readCollectionState } from './collection-state.ts';
import type { CollectionView } from './collection-view.ts';
import { findAvoided, findAvoidedCommit } from './find-avoided.ts';

export interface WholeOptions extends CallOptions {
  /** A ref whose history may have the commit. */
  readonly branch: string;
  readonly view: CollectionView;
  /** Default: from the store. */
  readonly read?: (hash: CommitHash) => Promise<Commit>;
}

/**
 * Makes sure that a ref may be given to a commit that exists: no collection has removed what it names, nor
 * what the commits before it are. A round that begins later meets the new ref (`publish.ts`).
 *
 * What a live ref names is whole once the last round is sealed, and so are the commits before it that are
 * not forgotten. Otherwise nothing that the commit names, and no commit before it, may have been a candidate:
 * one request for each segment and each commit.
 * @throws `conflict`
 */
export async function checkWhole(
  store: ObjectStore,
  commit: { readonly commit: Commit; readonly hash: CommitHash },
  { branch, view, read: given, ...call }: WholeOptions,
): Promise<void> {
  const read = given ?? ((hash: CommitHash) => readCommit(store, hash, call));
  // First the state, then the ref: a round that is sealed now has seen what the ref named before.
  const stored = await readCollectionState(store, { repository: commit.commit.repository, ...call });
  if (!stored) return;
  if (stored.state.round !== view.round) await view.refresh();
  try {
    if (
      stored.state.phase !== 'marked' &&
      (await isKept(store, commit.hash, { branch, read, known: stored.state.forgotten, ...call }))
    )
      return;
    const avoided =
      (await findAvoided(store, commit, view, call)) ?? (await findAvoidedCommit(commit.hash, view, read));
    if (avoided !== undefined) throw collected(commit.hash, avoided);
  } catch (error) {
    // Nobody knows then what is forgotten, so a pull would not help.
    const isListLost = isDamage(error) && error.data.key === RETENTION_KEY;
    if (isListLost || !(error instanceof DrayError) || !['damaged', 'notFound'].includes(error.code))
      throw error;
    throw collected(commit.hash, error.data.key);
  }
}

/** Whether the branch leads to the commit, and it is not forgotten. */
async function isKept(
  store: ObjectStore,
  hash: CommitHash,
  {
    branch,
    known,
    read,
    ...call
  }: CallOptions & Required<Pick<WholeOptions, 'branch' | 'read'>> & { readonly known: number },
): Promise<boolean> {
  const tip = (await readRef(store, branch, call))?.commit;
  if (tip === undefined || tip === hash) return tip === hash;
  if (!(await leadsTo({ tip, own: hash, base: undefined, read }))) return false;
  const retention = await readRetention(store, call);
  checkLength(store, retention, known);
  return !retention?.forgotten.includes(hash);
}

function collected(hash: CommitHash, key: unknown): DrayError {
  return new DrayError(
    'conflict',
    `A collection of garbage may have removed content of the commit ${hash.slice(0, 12)}, or a commit before it.`,
    {
      data: { commit: hash, key, reason: 'collected' },
      advice: 'Pull first, or name a commit that a branch or a tag has.',
    },
  );
}
