/**
 * A branch that this workspace has seen only ever grows: a push puts its commit on top of the last one. So a
 * branch that does not lead to the workspace's base any more is damage or somebody's decision, and never new:
 *
 * - its ref is gone. Dray never deletes a ref where it collects garbage, it writes `removed` into it;
 * - it names an ancestor of the base: an older state of the store was put back;
 * - it names a commit that does not lead to the base: somebody has moved it.
 *
 * Merging with such a branch would take back what came after it, on this machine too, without anybody having
 * done so; making it again would hide what others pushed. So push and pull stop here, before they change
 * anything. `dray pull COMMIT` is the choice to take what the branch has.
 *
 * A branch that grew costs one request for each commit between the base, or the tip that was seen last, and
 * the newest one, which the pull reads anyway. Many are read at once (`commits-ahead.ts`).
 */
import { DrayError } from '../../../api/error.ts';
import type { CommitHash } from '../../../model/entry.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { refuseGone } from '../../../repository/collection/gone-ref.ts';
import { readCommit } from '../../../repository/commit.ts';
import type { CommitLinks } from '../../../repository/count-sole.ts';
import { collectsGarbage, readDescriptor } from '../../../repository/descriptor.ts';
import { readLinks } from '../../../repository/history-end.ts';
import { commitKey } from '../../../repository/keys.ts';
import type { StoredRef } from '../../../repository/refs.ts';
import { readCommitsAhead } from '../../history/verify/commits-ahead.ts';
import { isFinding } from '../../history/verify/findings.ts';
import { arrivalsOf, isOfBranch } from '../base/arrivals.ts';
import { fetchCommit } from '../base/base-commit.ts';
import { fetchLinks } from '../fetch-links.ts';
import type { LinkedRepository } from '../link-repository.ts';
import type { Session } from '../open-workspace.ts';
import type { OpenedRemote } from '../opened-remote.ts';
import { knownToLeadTo, rememberLeadingTo } from './known-history.ts';

/** The search for a tip that lies before the base. */
const BEFORE_SEARCHED_MAX = 1_000;
/** So many commits are kept in the index, for whoever asks for the same history in this run. */
const CACHED_MAX = 200;

/** What the search needs of an opened remote. */
export type SearchedRemote = Pick<OpenedRemote, 'limit' | 'store'>;

/** The branch as it was read now. */
export interface SeenBranch {
  /** Undefined if there is no ref that is live. */
  readonly tip: StoredRef | undefined;
  /** The repository collects garbage, so it never deletes a ref. */
  readonly collects: boolean;
}

export function seenBranch({ tip, view }: Pick<LinkedRepository, 'tip' | 'view'>): SeenBranch {
  return { tip, collects: view !== undefined };
}

/** @throws `damaged` */
export async function refuseReplaced(
  session: Session,
  remote: SearchedRemote,
  { collects, tip }: SeenBranch,
): Promise<void> {
  const base = followedBase(session);
  if (tip ? !base || tip.commit === base : !base && !hasBegunClone(session)) return;
  const { store } = remote;
  if (tip && base) {
    if (knownToLeadTo(session, base) === tip.commit) return;
    if (await isBefore(session, store, tip.commit, base)) throw rolledBack(store, tip, base);
    const found = await searchFrom(session, remote, { tip: tip.commit, base });
    if (!found.leads) throw replaced(store, tip, { base, ...found });
    rememberLeadingTo(session, base, tip.commit);
    return;
  }
  const { context, state } = session;
  if (collects) await refuseGone(store, `heads/${state.branch}`, base, { signal: context.signal });
}

/**
 * For a command that found no ref of the workspace's branch. No request if the workspace has not seen the
 * branch, else two. @throws `damaged` if the ref is lost
 */
export async function refuseOwnGone(session: Session, store: ObjectStore): Promise<void> {
  const base = followedBase(session);
  if (!base) return;
  const { signal } = session.context;
  const descriptor = await readDescriptor(store, { signal });
  if (descriptor && collectsGarbage(descriptor))
    await refuseGone(store, `heads/${session.state.branch}`, base, { signal });
}

/** A clone finds the branch first, and may have ended before it recorded a commit. */
function hasBegunClone({ state: { branch, cloning } }: Session): boolean {
  return cloning !== undefined && (cloning.ref === undefined || cloning.ref === branch);
}

/** The newest commit at which this workspace has seen its branch: also one that has not arrived whole. */
export function followedBase(session: Session): CommitHash | undefined {
  const { remoteName, state } = session;
  const base = state.bases[remoteName];
  if (base !== undefined && state.follows?.[remoteName] !== state.branch) return undefined;
  const arriving = arrivalsOf(session).findLast((arrival) => isOfBranch(session, arrival));
  return (arriving?.commit ?? base) as CommitHash | undefined;
}

/**
 * A commit is taken for later than its ancestors. So this costs no request for a branch that grew, unless the
 * clocks of its writers differ.
 */
async function isBefore(
  session: Session,
  store: ObjectStore,
  tip: CommitHash,
  base: CommitHash,
): Promise<boolean> {
  const { time } = await fetchCommit(session, store, tip);
  const seen = new Set<CommitHash>([base]);
  for (const hash of seen) {
    if (seen.size > BEFORE_SEARCHED_MAX) return false;
    const commit = await fetchLinks(session, store, hash);
    if (commit.time < time) continue;
    if (commit.parents.includes(tip)) return true;
    for (const parent of commit.parents) seen.add(parent);
  }
  return false;
}

interface Found {
  readonly leads: boolean;
  /** A commit on the way that cannot be read: behind it may be anything. */
  readonly unreadable?: CommitHash;
}

/** The newest commits first, so that a merged branch is not read down to its beginning. */
async function searchFrom(
  session: Session,
  { limit, store }: SearchedRemote,
  { base, tip }: { readonly base: CommitHash; readonly tip: CommitHash },
): Promise<Found> {
  const { signal } = session.context;
  const { time } = await fetchCommit(session, store, base);
  await using ahead = readCommitsAhead({ context: { signal }, limit, store }, Date.parse(time));
  const goals = new Set([base, knownToLeadTo(session, base)]);
  const seen = new Set<CommitHash>([tip]);
  const open: { readonly hash: CommitHash; readonly time: string }[] = [];
  let unreadable: CommitHash | undefined;
  const visit = async (hash: CommitHash): Promise<boolean> => {
    const isCached = seen.size <= CACHED_MAX;
    const read = () =>
      isCached ? fetchCommit(session, ahead.store, hash) : readCommit(ahead.store, hash, { signal });
    const commit = await readFound(() => readLinks(store, hash, read, { signal }));
    if (!commit) unreadable ??= hash;
    for (const parent of commit?.parents ?? []) {
      if (goals.has(parent)) return true;
      if (seen.has(parent)) continue;
      seen.add(parent);
      open.push({ hash: parent, time: commit!.time });
    }
    return false;
  };
  if (await visit(tip)) return { leads: true };
  for (let next = takeNewest(open); next; next = takeNewest(open))
    if (await visit(next.hash)) return { leads: true };
  return { leads: false, ...(unreadable && { unreadable }) };
}

/** By the time of the commit that names it. As many are open as the history has lines side by side. */
function takeNewest<T extends { readonly time: string }>(open: T[]): T | undefined {
  let newest = 0;
  for (let at = 1; at < open.length; at += 1) if (open[at]!.time > open[newest]!.time) newest = at;
  return open.splice(newest, 1)[0];
}

async function readFound(read: () => Promise<CommitLinks>): Promise<CommitLinks | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isFinding(error)) throw error;
    return undefined;
  }
}

function rolledBack({ address }: ObjectStore, { commit, name }: StoredRef, base: CommitHash): DrayError {
  const message =
    `${name} at ${address} is back at ${commit.slice(0, 10)}, a commit before ${base.slice(0, 10)}, which this ` +
    'workspace has seen there. Somebody put an older state of the store back.';
  const command = `dray pull ${commit.slice(0, 10)}`;
  return new DrayError('damaged', message, {
    data: { ref: name, commit, expected: base, reason: 'rolledBack' },
    advice: `If that was meant, accept it with "${command}".`,
    command,
  });
}

function replaced(
  { address }: ObjectStore,
  { commit, name }: StoredRef,
  { base, unreadable }: Found & { readonly base: CommitHash },
): DrayError {
  const [at, own] = [commit.slice(0, 10), base.slice(0, 10)];
  const command = `dray pull ${at}`;
  const data = { ref: name, commit, expected: base };
  if (unreadable)
    return new DrayError(
      'damaged',
      `Nobody can tell whether ${name} at ${address} still has ${own}, the commit of this workspace: ` +
        `${unreadable.slice(0, 10)}, a commit between, cannot be read.`,
      {
        data: { ...data, reason: 'historyUnknown', key: commitKey(unreadable) },
        advice: `"dray repair" puts it back if a workspace has it. Take what the branch has with "${command}".`,
        command,
      },
    );
  return new DrayError(
    'damaged',
    `The history of ${name} at ${address} was replaced: ${at}, where it is now, is not based on ${own}, ` +
      'the commit of this workspace.',
    {
      data: { ...data, reason: 'historyReplaced' },
      advice: `Take what the branch has with "${command}", or keep what is here as a branch: "dray switch -c NAME".`,
      command,
    },
  );
}
