/**
 * What commands know of forgotten commits (`repository/retention.ts`). Their files may be gone, so reading
 * one fails with `forgotten`, and an object that is missing for that reason is no damage.
 */
import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { readCollectionState } from '../../repository/collection/collection-state.ts';
import { listRefs, type StoredRef } from '../../repository/refs.ts';
import { type ResolvedRef, type ResolveOptions, resolveRef } from '../../repository/resolve-ref.ts';
import { checkLength, readRetention, type StoredRetention } from '../../repository/retention.ts';

/**
 * One request, two once there was a collection, or none in a repository that cannot forget.
 * @param refs All branches and tags: what they name is not forgotten.
 * @throws `damaged` if the list is damaged or lost
 */
export async function readForgotten(
  store: ObjectStore,
  refs: readonly Pick<StoredRef, 'commit' | 'collects' | 'epoch'>[],
  options: CallOptions = {},
): Promise<ReadonlySet<CommitHash>> {
  if (!refs.some(({ collects }) => collects)) return new Set();
  const isCollected = refs.some(({ epoch }) => epoch > 0);
  const retention = await (isCollected ? readWholeRetention : readRetention)(store, options);
  const forgotten = new Set(retention?.forgotten);
  for (const { commit } of refs) forgotten.delete(commit);
  return forgotten;
}

/** A damaged state does not keep anybody from reading. */
async function readWholeRetention(
  store: ObjectStore,
  options: CallOptions,
): Promise<StoredRetention | undefined> {
  const state = readCollectionState(store, options).catch((error: unknown) => {
    if (!isDamage(error)) throw error;
    return undefined;
  });
  const [stored, retention] = await Promise.all([state, readRetention(store, options)]);
  const known = stored?.state.forgotten ?? 0;
  if ((retention?.forgotten.length ?? 0) >= known) return retention;
  // It may have grown between the two answers.
  const current = await readRetention(store, options);
  checkLength(store, current, known);
  return current;
}

/** One request; for a commit on the list also those that read all refs. */
export async function isForgotten(
  store: ObjectStore,
  hash: CommitHash,
  options: CallOptions = {},
): Promise<boolean> {
  if (!(await readRetention(store, options))?.forgotten.includes(hash)) return false;
  const [branches, tags] = await Promise.all([
    listRefs(store, 'heads', options),
    listRefs(store, 'tags', options),
  ]);
  return ![...branches, ...tags].some(({ commit }) => commit === hash);
}

/** @throws `forgotten` */
export async function requireKept(
  store: ObjectStore,
  hash: CommitHash,
  options: CallOptions = {},
): Promise<void> {
  if (await isForgotten(store, hash, options)) throw forgottenCommit(hash);
}

/**
 * Like `resolveRef`, for a commit whose files are read. A request more for one that no ref names.
 * @throws `forgotten`, and what `resolveRef` throws
 */
export async function resolveKeptRef(
  store: ObjectStore,
  text: string,
  { read, ...options }: ResolveOptions = {},
): Promise<ResolvedRef> {
  const found = await resolveRef(store, text, { ...options, ...(read && { read }) });
  if (!found.ref) await requireKept(store, found.commit, options);
  return found;
}

/**
 * Runs `work`, which reads the commit. If it meets a missing or damaged object, asks once whether the commit
 * was forgotten, perhaps meanwhile, and then fails with `forgotten`.
 * @param isBase The workspace's own, whose rows are missing in the index.
 */
export async function whileKept<T>(
  store: ObjectStore,
  hash: CommitHash,
  work: () => Promise<T>,
  { isBase, ...options }: CallOptions & { readonly isBase?: true } = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Another failure of the question does not explain the first one.
    const isGone = isDamage(error) && (await isForgotten(store, hash, options).catch(() => false));
    if (!isGone) throw error;
    throw isBase ? forgottenBase(hash) : forgottenCommit(hash);
  }
}

export function forgottenCommit(hash: CommitHash): DrayError {
  return new DrayError(
    'forgotten',
    `The commit ${hash.slice(0, 10)} was forgotten: its files are not kept.`,
    {
      data: { commit: hash },
      advice: '"dray log" shows which commits are.',
      command: 'dray log',
    },
  );
}

/** The base is forgotten, and the index cannot stand in for it. */
export function forgottenBase(hash: CommitHash): DrayError {
  const message = `The commit ${hash.slice(0, 10)}, on which this workspace is based, was forgotten, and the index does not know what it held.`;
  return new DrayError('forgotten', message, {
    data: { commit: hash, reason: 'base' },
    advice: 'Clone the repository into another folder, and copy what you changed into it.',
    command: 'dray clone',
  });
}
