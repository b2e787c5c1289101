import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { type Commit, readCommit } from '../commit.ts';
import type { CommitLinks } from '../count-sole.ts';
import { readLinks } from '../history-end.ts';
import { RETENTION_KEY } from '../keys.ts';
import { leadsTo } from '../leads-to.ts';
import { listRefNames, readRef } from '../refs.ts';
import { checkLength, readRetention } from '../retention.ts';
import { readCollectionState } from './collection-state.ts';
import type { CollectionView } from './collection-view.ts';
import { findAvoided, findAvoidedCommit } from './find-avoided.ts';

export interface WholeOptions extends CallOptions {
  /** The ref that is asked first whether it has the commit. */
  readonly branch: string;
  readonly view: CollectionView;
  /** Default: from the store. */
  readonly read?: (hash: CommitHash) => Promise<CommitLinks>;
}

/**
 * Makes sure that a ref may be given to a commit that exists: no collection has removed what it names, nor
 * what the commits before it are. A round that begins later meets the new ref (`publish.ts`).
 *
 * What a live ref names is whole once the last round is sealed, and so are the commits before it that are
 * not forgotten. Otherwise nothing that the commit names, and no commit before it, may have been a candidate:
 * one request for each segment and each commit. If something was, all refs are read.
 * @throws `conflict`
 */
export async function checkWhole(
  store: ObjectStore,
  commit: { readonly commit: Commit; readonly hash: CommitHash },
  { branch, view, read: given, ...call }: WholeOptions,
): Promise<void> {
  const read =
    given ?? ((hash: CommitHash) => readLinks(store, hash, () => readCommit(store, hash, call), call));
  // First the state, then the ref: a round that is sealed now has seen what the ref named before.
  const stored = await readCollectionState(store, { repository: commit.commit.repository, ...call });
  if (!stored) return;
  if (stored.state.round !== view.round) await view.refresh();
  const isSealed = stored.state.phase !== 'marked';
  const kept = { read, known: stored.state.forgotten, ...call };
  const findTip = () => tipOf(store, branch, call);
  if (isSealed && (await orIfGone(isKept(store, commit.hash, { tips: [await findTip()], ...kept }), false)))
    return;
  const find = async () =>
    (await findAvoided(store, commit, view, call)) ?? (await findAvoidedCommit(commit.hash, view, read));
  const avoided = await find().catch(keyOfGone);
  if (avoided === undefined) return;
  if (isSealed) {
    const tips = await allTips(store, call);
    if (await orIfGone(isKept(store, commit.hash, { tips, ...kept }), false)) return;
  }
  throw collected(commit.hash, avoided);
}

/** What is missing may have been collected. */
function keyOfGone(error: unknown): unknown {
  // Nobody knows then what is forgotten, so a pull would not help.
  const isListLost = isDamage(error) && error.data.key === RETENTION_KEY;
  if (isListLost || !(error instanceof DrayError) || !['damaged', 'notFound'].includes(error.code))
    throw error;
  return error.data.key ?? null;
}

async function orIfGone<T>(work: Promise<T>, otherwise: T): Promise<T> {
  return work.catch((error: unknown) => {
    keyOfGone(error);
    return otherwise;
  });
}

/** A ref that cannot be read names nothing that is certain. */
async function tipOf(store: ObjectStore, name: string, call: CallOptions): Promise<CommitHash | undefined> {
  return (await orIfGone(readRef(store, name, call), undefined))?.commit;
}

async function allTips(store: ObjectStore, call: CallOptions): Promise<readonly (CommitHash | undefined)[]> {
  const names = await Promise.all([listRefNames(store, 'heads', call), listRefNames(store, 'tags', call)]);
  return Promise.all(names.flat().map((name) => tipOf(store, name, call)));
}

interface KeptOptions extends CallOptions {
  readonly tips: readonly (CommitHash | undefined)[];
  readonly read: (hash: CommitHash) => Promise<CommitLinks>;
  /** How many forgotten commits a collection has counted. */
  readonly known: number;
}

/** Whether a ref names the commit, or leads to it and it is not forgotten. */
async function isKept(
  store: ObjectStore,
  hash: CommitHash,
  { known, read, tips: found, ...call }: KeptOptions,
): Promise<boolean> {
  const tips = found.filter((tip) => tip !== undefined);
  if (tips.includes(hash)) return true;
  if (!(await leadsTo({ tip: tips, own: hash, base: undefined, read }))) return false;
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
      advice: 'Name a commit that a branch or a tag has: "dray branch" and "dray tag" list them.',
    },
  );
}
