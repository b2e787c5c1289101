/** What a push has to know of a pending merge: its commit gets the merged one as a parent. */
import { DrayError } from '../../api/error.ts';
import type { PushRequest } from '../../api/jobs/jobs.ts';
import type { CommitHash } from '../../model/entry.ts';
import { mergeChanges } from '../../model/merge.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { checkWhole } from '../../repository/collection/check-whole.ts';
import type { EntryChange } from '../../repository/manifest/manifest.ts';
import { findMergeBases, isInHistory } from '../../repository/merge-bases.ts';
import type { StoredRef } from '../../repository/refs.ts';
import { arrivalsOf } from '../session/base/arrivals.ts';
import { type BaseCommit, fetchCommit } from '../session/base/base-commit.ts';
import { commandLine } from '../session/command-line.ts';
import { fetchLinks } from '../session/fetch-links.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { reportConflicts } from '../working-copy/conflicts.ts';
import { describePending, pendingMerge, refuseUnfinished, savePending } from './pending-merge.ts';
import { findTwoSides, type ThreeCommits } from './three-way.ts';

interface Recording {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly link: LinkedRepository;
  readonly base: BaseCommit;
}

/**
 * The commit to be merged: undefined if none is pending, or the base has it already, or the branch's commit.
 */
export async function mergedCommit(
  { base, session, store }: Recording,
  tip?: StoredRef,
): Promise<CommitHash | undefined> {
  const pending = pendingMerge(session);
  if (pending?.kind !== 'merge' || !base.hash) return undefined;
  const merged = pending.commit as CommitHash;
  const known = [base.hash, ...(tip && tip.commit !== base.hash ? [tip.commit] : [])];
  for (const hash of known) if (await isInHistory(merged, hash, reader(session, store))) return undefined;
  return merged;
}

/** A commit that claims a merge has all of it. @throws `conflict`, `usage` */
export function refusePartOfMerge(session: Session, { skip = [] }: PushRequest): void {
  refuseUnfinished(session);
  const pending = pendingMerge(session);
  const isOfAll = pending?.kind === 'merge' || scopeOf(session) !== undefined;
  if (!pending || !isOfAll) return;
  if (arrivalsOf(session).length > 0) {
    const command = commandLine(session, 'pull');
    throw new DrayError('conflict', `${describePending(pending)} waits for a pull that did not end.`, {
      data: { reason: 'halfArrived' },
      advice: `Finish it with "${command}", then push.`,
      command,
    });
  }
  if (skip.length > 0 && pending.kind === 'merge')
    throw new DrayError(
      'usage',
      `${describePending(pending)} can only be pushed whole, without skipped paths.`,
      {
        data: { paths: skip, reason: 'mergePending' },
      },
    );
}

/** @throws `partial` */
export function refuseUnreadPart(session: Session, failed: number): void {
  const pending = pendingMerge(session);
  if (pending?.kind !== 'merge' || failed === 0) return;
  const files = failed === 1 ? 'a file' : `${failed} files`;
  throw new DrayError(
    'partial',
    `${describePending(pending)} was not pushed, because ${files} could not be read: the commit would lack them.`,
    { data: { failed, reason: 'mergePending' } },
  );
}

/** Makes sure that the branch may lead to the merged commit. @throws `conflict` */
export async function checkMergedWhole(
  { link, session, store }: Recording,
  merged: CommitHash,
): Promise<void> {
  if (!link.view) return;
  const commit = await fetchCommit(session, store, merged);
  const { signal } = session.context;
  const options = {
    branch: `heads/${session.state.branch}`,
    view: link.view,
    read: reader(session, store),
    signal,
  };
  await checkWhole(store, { commit, hash: merged }, options);
}

/**
 * Of a workspace that holds a part: what the pending merge or revert changes outside of it. In order of path.
 * @param merged Undefined: the branch has the merge already, or none is pending.
 * @throws `conflict` if both sides changed a path there
 */
export async function changesOutside(
  recording: Omit<Recording, 'link'>,
  merged: CommitHash | undefined,
): Promise<readonly EntryChange[]> {
  const { base, session, store } = recording;
  const scope = scopeOf(session);
  const commits = scope && (await commitsOf(recording, merged));
  if (!commits) return [];
  const { ours, theirs } = await findTwoSides({ session, store, base, reach: 'all' }, commits);
  const { conflicts, takeTheirs } = mergeChanges(ours, theirs);
  const isOutside = ({ path }: { readonly path: string }) => !scope.holds(path);
  const beyond = conflicts.filter((one) => [one, ...one.ours, ...one.theirs].some(isOutside));
  if (beyond.length > 0) throw conflictOutside(session, beyond);
  return takeTheirs
    .filter(isOutside)
    .map(({ after, path }) => ({ path, ...(after ? { entry: after } : {}) }));
}

async function commitsOf(
  { base, session, store }: Omit<Recording, 'link'>,
  merged: CommitHash | undefined,
): Promise<ThreeCommits | undefined> {
  const pending = pendingMerge(session);
  const read = reader(session, store);
  if (!pending || !base.hash) return undefined;
  if (pending.kind === 'revert') {
    const reverted = pending.commit as CommitHash;
    return { bases: [reverted], theirs: (await read(reverted)).parents[(pending.parent ?? 1) - 1] };
  }
  if (!merged) return undefined;
  const bases = await findMergeBases(base.hash, merged, read);
  return { bases: bases.length === 0 ? [undefined] : bases, theirs: merged };
}

function conflictOutside(session: Session, conflicts: Parameters<typeof reportConflicts>[1]): DrayError {
  const { commit = '', kind = 'merge', ref = '' } = pendingMerge(session) ?? {};
  const { data } = reportConflicts(session, conflicts, {
    ref: { kind: 'commit', name: commit.slice(0, 10) },
    words: kind,
  });
  const [first = ''] = conflicts.map(({ path }) => path);
  const more = conflicts.length > 1 ? ` and ${conflicts.length - 1} more` : '';
  const what = kind === 'merge' ? `${ref} and this branch both` : `A later commit than ${ref} also`;
  return new DrayError(
    'conflict',
    `${what} changed ${first}${more}, outside of what this workspace holds. Nothing was sent.`,
    {
      data: { paths: data.paths, count: conflicts.length, reason: 'outsideScope' },
      advice: `Take the ${kind} back with "dray ${kind} --abort", and ${kind} in a workspace that holds it.`,
      command: `dray ${kind} --abort`,
    },
  );
}

/**
 * A push merges with the branch path by path, from the workspace's base. Where the merged commit has commits
 * of the branch that the base lacks, a push that takes one of them back looks like no change from there. And
 * what the merge changes outside of a part would be left out.
 * @throws `conflict`
 */
export async function refuseMergeOntoTip(
  { base, session, store }: Omit<Recording, 'link'>,
  tip: StoredRef,
): Promise<void> {
  const pending = pendingMerge(session);
  if (!pending || !base.hash) return;
  const read = reader(session, store);
  const isMerge = pending.kind === 'merge';
  const shared = isMerge ? await findMergeBases(pending.commit as CommitHash, tip.commit, read) : [];
  let isMore = isMerge
    ? scopeOf(session) !== undefined
    : (await changesOutside({ base, session, store }, undefined)).length > 0;
  for (const hash of shared) isMore ||= !(await isInHistory(hash, base.hash, read));
  if (!isMore) return;
  const { branch } = session.state;
  const command = commandLine(session, 'pull');
  throw new DrayError('conflict', `The branch ${branch} has moved to ${tip.commit.slice(0, 10)}.`, {
    data: { branch, commit: tip.commit, reason: 'mergePending' },
    advice: `Pull first with "${command}", then push the ${pending.kind}.`,
    command,
  });
}

/** The base has moved on, by a pull. */
export async function settlePending(session: Session, store: ObjectStore): Promise<void> {
  const pending = pendingMerge(session);
  const base = session.state.bases[session.remoteName] as CommitHash | undefined;
  if (pending?.kind !== 'merge' || pending.isUnfinished || !base) return;
  if (await isInHistory(pending.commit as CommitHash, base, reader(session, store)))
    savePending(session, undefined);
}

function reader(session: Session, store: ObjectStore) {
  return (hash: CommitHash) => fetchLinks(session, store, hash);
}
