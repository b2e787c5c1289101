/**
 * A push that ends between the move of its ref and its own bookkeeping (killed, or the answer lost for good)
 * has succeeded without knowing it. So a push records its commit before it moves the ref, and the next
 * command that uses the base checks whether the branch has it. Otherwise later edits would conflict with the
 * workspace's own commit, and a switch would take the pushed ones along.
 */
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { diffCommits } from '../../repository/diff-commits.ts';
import { leadsTo } from '../../repository/leads-to.ts';
import { savePending } from '../merge/pending-merge.ts';
import { arrivalOf } from '../session/base/arrivals.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import {
  acceptCommit,
  beginArrival,
  endArrival,
  ensureBase,
  fetchCommit,
} from '../session/base/base-commit.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { collectChanges } from '../working-copy/conflicts.ts';

/** The commit to be published and its branch. It says nothing about another branch or another base. */
interface UnconfirmedPush {
  readonly repository: string;
  readonly branch: string;
  readonly base: CommitHash | null;
  readonly own: CommitHash;
}

/** By the names of the remotes: a push to one says nothing about another. */
type Recorded = Readonly<Record<string, UnconfirmedPush>>;

export function recordUnconfirmedPush(session: Session, link: LinkedRepository, own: CommitHash): void {
  session.index.durably(() => save(session, unconfirmedPushOf(session, link, own)));
}

export function forgetUnconfirmedPush(session: Session): void {
  save(session, undefined);
}

function save(session: Session, push: UnconfirmedPush | undefined): void {
  const { [session.remoteName]: _, ...others } = readRecorded(session);
  const all = push ? { ...others, [session.remoteName]: push } : others;
  session.index.settings.unconfirmedPush =
    Object.keys(all).length === 0 ? undefined : JSON.stringify({ remotes: all });
}

/** No request when nothing is recorded, or when the branch's commit is the recorded one. */
export async function settleUnconfirmedPush(
  session: Session,
  store: ObjectStore,
  link: LinkedRepository,
): Promise<void> {
  if (!hasUnconfirmedPush(session)) return;
  // The branch may be lost, and the commit the newest that it had.
  if (!link.tip && meantCommit(session, link)) return;
  const own = await publishedCommit(session, store, link);
  if (own) {
    const base = await ensureBase(session, store, link);
    const commit = await fetchCommit(session, store, own);
    // That push has recorded it.
    savePending(session, undefined);
    if (base.isMixed) await acceptOverArrivals(session, store, link, { hash: own, commit });
    else {
      const changes = await collectChanges(changesFromBase(session, store, base, commit));
      acceptCommit(session, link, { hash: own, changes });
    }
  }
  forgetUnconfirmedPush(session);
}

/**
 * For commands that leave the workspace's branch, or need no link of it otherwise. No request when nothing is
 * recorded.
 */
export async function settleLastPush(session: Session, store: ObjectStore): Promise<void> {
  if (!hasUnconfirmedPush(session)) return;
  const link = await linkRepository(session, store, session.state.branch);
  await settleUnconfirmedPush(session, store, link);
}

/**
 * For commands that write nothing into the workspace: in this session, the base is the commit of the last
 * push, if the branch has it. The workspace's own records stay as they are.
 */
export async function foreseeSettledBase(session: Session, store: ObjectStore): Promise<void> {
  if (!hasUnconfirmedPush(session)) return;
  const link = await linkRepository(session, store, session.state.branch);
  const own = await publishedCommit(session, store, link);
  if (own === undefined) return;
  const { remoteName, state } = session;
  session.state = { ...state, bases: { ...state.bases, [remoteName]: own } };
}

export function hasUnconfirmedPush(session: Session): boolean {
  return readRecorded(session)[session.remoteName] !== undefined;
}

/** The recorded commit, if the record is of this branch and this base. */
function meantCommit(session: Session, link: LinkedRepository): CommitHash | undefined {
  const { [session.remoteName]: push } = readRecorded(session);
  if (!push) return undefined;
  const { base, branch, own, repository } = push;
  const meant = unconfirmedPushOf(session, link, own);
  const isMeant = repository === meant.repository && branch === meant.branch && base === meant.base;
  return isMeant ? own : undefined;
}

/** The recorded commit, if the branch has it. */
async function publishedCommit(
  session: Session,
  store: ObjectStore,
  link: LinkedRepository,
): Promise<CommitHash | undefined> {
  const own = meantCommit(session, link);
  const tip = link.tip?.commit;
  if (!own || !tip) return undefined;
  const read = (hash: CommitHash) => fetchCommit(session, store, hash);
  return (await leadsTo({ tip, own, base: baseOf(session), read })) ? own : undefined;
}

/** A damaged record says nothing. An older version recorded one push, to whatever remote. */
function readRecorded({ index, remoteName }: Session): Recorded {
  const text = index.settings.unconfirmedPush;
  if (text === undefined) return {};
  try {
    const found = JSON.parse(text) as { readonly remotes?: Recorded } | UnconfirmedPush | null;
    if (found && 'own' in found) return { [remoteName]: found };
    return found?.remotes ?? {};
  } catch {
    return {};
  }
}

/** The commit has the changes of this workspace on the branch's commit of then, its parent. */
async function acceptOverArrivals(
  session: Session,
  store: ObjectStore,
  link: LinkedRepository,
  { commit, hash }: { readonly commit: Commit; readonly hash: CommitHash },
): Promise<void> {
  const [onto] = commit.parents;
  const before = onto && (await fetchCommit(session, store, onto));
  const options = { scope: scopeOf(session), signal: session.context.signal };
  const changes = await collectChanges(diffCommits(store, before, commit, options));
  beginArrival(session, link.uuid, arrivalOf(session, hash, 'pull'));
  endArrival(session, link, changes);
}

function unconfirmedPushOf(session: Session, link: LinkedRepository, own: CommitHash): UnconfirmedPush {
  return { repository: link.uuid, branch: session.state.branch, base: baseOf(session) ?? null, own };
}

function baseOf({ remoteName, state }: Session): CommitHash | undefined {
  return state.bases[remoteName] as CommitHash | undefined;
}
