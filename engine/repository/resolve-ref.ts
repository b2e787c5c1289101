/** Resolves a user's name of a commit. */

import { DrayError } from '../api/error.ts';
import { isDamage } from '../base/read-checked.ts';
import type { CommitHash } from '../model/entry.ts';
import type { CallOptions, ObjectStore } from '../remotes/object-store.ts';
import { splitAncestor, walkBack } from './ancestor.ts';
import { readLastRecord, refuseLost } from './collection/ref-record.ts';
import { type Commit, readCommit } from './commit.ts';
import { readLinks } from './history-end.ts';
import { COMMITS_PREFIX, hashFromCommitKey, isHash } from './keys.ts';
import { refNameReason } from './ref-name.ts';
import { readAnyRef, readRef, type StoredRef } from './refs.ts';

export interface ResolvedRef {
  readonly commit: CommitHash;
  /** The branch or tag of that name. */
  readonly ref?: StoredRef;
}

export interface ResolveOptions extends CallOptions {
  /** Reads the commits between `REF` and `REF~N`. Default: from the store. */
  readonly read?: (hash: CommitHash) => Promise<Pick<Commit, 'parents'>>;
}

/** Hexadecimal digits that can abbreviate a commit. */
const PREFIX = /^[0-9a-f]{6,63}$/;

/**
 * A name, or `NAME~N`, which costs N requests more.
 * @throws `notFound` naming what was searched for; `usage` when several commits begin with the digits.
 */
export async function resolveRef(
  store: ObjectStore,
  text: string,
  { read, ...options }: ResolveOptions = {},
): Promise<ResolvedRef> {
  const ancestor = splitAncestor(text);
  const named = await resolveName(store, ancestor.name, options);
  if (ancestor.steps === 0) return named;
  const readParents =
    read ?? ((hash: CommitHash) => readLinks(store, hash, () => readCommit(store, hash, options), options));
  return { commit: await walkBack(named.commit, ancestor, readParents) };
}

/**
 * Tries in this order: a full commit hash (no request; reading it shows whether it exists), a branch and a
 * tag (both asked at once), or the first six or more digits of a commit (one LIST).
 */
async function resolveName(store: ObjectStore, text: string, options: CallOptions): Promise<ResolvedRef> {
  if (isHash(text)) return { commit: text as CommitHash };
  const isRefName = refNameReason(text) === undefined;
  if (isRefName) {
    const reads = [readRef(store, `heads/${text}`, options), readRef(store, `tags/${text}`, options)];
    const [branch, tag] = await Promise.all(reads);
    const ref = branch ?? tag;
    if (ref) return { commit: ref.commit, ref };
  }
  const isPrefix = PREFIX.test(text);
  const commits = isPrefix ? await commitsThatBegin(store, text, options) : [];
  const [commit, another] = commits;
  if (commit !== undefined && another === undefined) return { commit };
  if (commit === undefined) {
    if (isRefName) await refuseLostName(store, text, options);
    const looked = isPrefix ? 'branch, tag or commit' : 'branch or tag';
    throw new DrayError('notFound', `${store.address} has no ${looked} ${JSON.stringify(text)}.`, {
      data: { ref: text },
    });
  }
  const message = `More than one commit begins with ${text}: ${commits.join(', ')}. Use more digits.`;
  throw new DrayError('usage', message, { data: { ref: text, commits } });
}

/**
 * For a name that no ref has. Two requests, and one more if the last round saw such a ref.
 * @throws `damaged` if it is lost
 */
export async function refuseLostName(store: ObjectStore, name: string, options: CallOptions): Promise<void> {
  const { refs } = await readLastRecord(store, options).catch((error: unknown) => {
    // Damage of the record is the matter of verify.
    if (!isDamage(error)) throw error;
    return { refs: [] };
  });
  const seen = refs.filter((ref) => ref.name === `heads/${name}` || ref.name === `tags/${name}`);
  const present = await Promise.all(seen.map((ref) => readAnyRef(store, ref.name, options)));
  refuseLost(
    store,
    seen,
    present.flatMap((ref) => ref ?? []),
  );
}

/** At most two, which suffice to show that the digits are ambiguous. */
async function commitsThatBegin(store: ObjectStore, digits: string, options: CallOptions) {
  if (store.sealing) return commitsOfAll(store, digits, options);
  const prefix = `${COMMITS_PREFIX}${digits.slice(0, 2)}/${digits.slice(2)}`;
  const page = await store.list({ prefix, limit: 2 }, options);
  // The listing may have found out that the names are keyed.
  if (store.sealing) return commitsOfAll(store, digits, options);
  return page.objects.flatMap(({ key }) => hashFromCommitKey(key) ?? []);
}

/** The names on the store are keyed, so no listing begins with the digits. */
async function commitsOfAll(store: ObjectStore, digits: string, options: CallOptions) {
  const found: CommitHash[] = [];
  for (let from: { continuation?: string } = {}; ; ) {
    const { continuation, objects } = await store.list({ prefix: COMMITS_PREFIX, ...from }, options);
    const names = objects.flatMap(({ key }) => hashFromCommitKey(key) ?? []);
    found.push(...names.filter((name) => name.startsWith(digits)));
    if (continuation === undefined || found.length > 1) return found.slice(0, 2);
    from = { continuation };
  }
}
