/** `dray pull`: brings a commit's changes into the workspace, path by path, and never loses a local edit. */
import { DrayError } from '../../api/error.ts';
import type { JobContext, PullRequest, PullSummary } from '../../api/jobs/jobs.ts';
import type { ArrivingCommit } from '../../api/jobs/pending-merge.ts';
import { type Change, isSameEntry } from '../../model/diff.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { MergeConflict } from '../../model/merge.ts';
import { refusePending, refuseUnfinished } from '../merge/pending-merge.ts';
import { settlePending } from '../merge/record-merge.ts';
import { settleUnconfirmedPush } from '../push/unconfirmed-push.ts';
import { whileKept } from '../retention/forgotten.ts';
import { arrivalOf, arrivalsOf } from '../session/base/arrivals.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import {
  acceptCommit,
  beginArrival,
  endArrival,
  ensureBase,
  fetchCommit,
} from '../session/base/base-commit.ts';
import { withDetached } from '../session/base/detached-state.ts';
import { dropOvertaken } from '../session/base/overtaken-arrivals.ts';
import { detachedField, followBranch } from '../session/branch/detached.ts';
import { refuseReplaced, seenBranch } from '../session/branch/replaced-history.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import { NO_CHANGES } from '../session/no-changes.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { resolveNamed, type TypedCommit } from '../session/resolve-commit.ts';
import { applyChanges } from '../working-copy/apply-changes.ts';
import { collectChanges, type OtherSide } from '../working-copy/conflicts.ts';
import { hashFiles, unreadAmong } from '../working-copy/hash-files.ts';
import { forgetCutRuns, hasCutRuns, takeTorn } from '../working-copy/interrupted-writes.ts';
import { findNameTwins } from '../working-copy/name-twins.ts';
import { type MergePlan, openMergeKeeper, planMerge } from '../working-copy/plan-merge.ts';
import { refreshIndex, reportProblems, sweepUnfinished } from '../working-copy/refresh-index.ts';
import { canHoldMore, createLeavingOut, type LeavingOut, leaveOut } from '../working-copy/unheld-entries.ts';
import { emitChanges, toChange, workingChanges } from '../working-copy/working-changes.ts';
import { bringHeld, NOTHING_HELD } from './bring-held.ts';

export async function pull(context: JobContext, request: PullRequest): Promise<PullSummary> {
  using session = await openSession(context, 'pull');
  await using remote = await openSessionRemote(session);
  const link = await linkRepository(session, remote.store, session.state.branch);
  await settleUnconfirmedPush(session, remote.store, link);
  // A commit or a tag is a choice. The branch itself, also by its name, is not.
  const isNamed = request.ref !== undefined && request.ref !== session.state.branch;
  if (!isNamed) await refuseReplaced(session, remote, seenBranch(link));
  const { commit: target, named } = await targetCommit(session, remote, link, request.ref);
  const isOwn = request.ref === undefined || target === link.tip?.commit;
  // The branch may have been moved to a commit that does not lead to the base: a merge is not whole there.
  if (!isNamed) refuseUnfinished(session);
  else if (request.dryRun !== true) refusePending(session);
  const words = isOwn ? 'pull' : `pull ${request.ref}`;
  return await pullCommit(
    session,
    remote,
    link,
    { commit: target, named, isOfBranch: isOwn, words },
    request,
  );
}

async function targetCommit(
  session: Session,
  { store }: OpenedRemote,
  link: LinkedRepository,
  ref: string | undefined,
): Promise<Pick<PullTarget, 'commit' | 'named'>> {
  if (ref !== undefined) return await resolveNamed(session, store, ref);
  const named = { kind: 'branch', name: session.state.branch } as const;
  if (link.tip) return { commit: link.tip.commit, named };
  throw new DrayError(
    'notFound',
    `The branch ${session.state.branch} has no commit on ${store.address} yet. Push first, or pull another ref.`,
    {
      data: { branch: session.state.branch },
    },
  );
}

export interface PullTarget {
  readonly commit: CommitHash;
  /** For messages. */
  readonly named: TypedCommit;
  /** The commit is that of the workspace's branch, or of the one that it is switched to. */
  readonly isOfBranch: boolean;
  /** The command that brings it, after `dray`. */
  readonly words: string;
}

/** Merges the commit into the working copy and makes it the workspace's base. */
export async function pullCommit(
  session: Session,
  remote: OpenedRemote,
  link: LinkedRepository,
  target: PullTarget,
  request: PullRequest,
): Promise<PullSummary> {
  const bring = () => bringCommit(session, remote, link, target, request);
  const summary = await whileKept(remote.store, target.commit, bring, { signal: session.context.signal });
  const isThere = session.state.bases[session.remoteName] === target.commit;
  if (!isThere || request.dryRun) return summary;
  if (target.isOfBranch) followBranch(session);
  await settlePending(session, remote.store);
  return { ...summary, ...detachedField(session) };
}

async function bringCommit(
  session: Session,
  remote: OpenedRemote,
  link: LinkedRepository,
  pullTarget: PullTarget,
  request: PullRequest,
): Promise<PullSummary> {
  const { commit: target, named, words } = pullTarget;
  const { store, meter } = remote;
  const summary = upToDate(session, target, meter.totals());
  if (isUpToDate(session, target)) return summary;
  const scanned = await refreshIndex(session);
  const problems = reportProblems(session, scanned.problems);
  if (!request.dryRun) sweepUnfinished(session, scanned.problems);
  const base = await ensureBase(session, store, link, { isScanned: true });
  const commit = await fetchCommit(session, store, target);
  const toTarget = await collectChanges(changesFromBase(session, store, base, commit));
  const { changes: theirs, torn } = await takeTorn(session, store, { base, target: commit }, toTarget);
  const twins = await findNameTwins(session, store, commit);
  const leavingOut = createLeavingOut(session, twins);
  const fitting = leavingOut.withoutTwins(theirs);
  const plan = await planPull(session, fitting, { ref: named, words }, request);
  if (request.dryRun) {
    const changes = await emitChanges(session, [plan.changes]);
    return {
      ...summary,
      result: 'wouldPull',
      changes,
      decided: plan.decided,
      failed: problems,
      requests: meter.totals(),
    };
  }
  const writes = plan.changes.flatMap((change): Entry[] => (change.after ? [change.after] : []));
  const toWrite = { files: writes.length, bytes: bytesOf(writes) };
  if (plan.changes.length > 0) beginArrival(session, link.uuid, arrivalOf(session, target, words, toWrite));
  const kept = plan.decided === 0 ? arrivedBefore(session, target, toWrite) : NOTHING;
  const applied = await applyChanges({
    session,
    remote,
    link,
    writing: { commit: target, words },
    totals: { files: kept.files + toWrite.files, bytes: kept.bytes + toWrite.bytes },
    kept,
    deletions: plan.changes.filter((change) => !change.after).map((change) => change.path),
    writes: [writes],
    givenUp: new Set([...plan.givenUp, ...torn]),
    leavingOut,
    keeper: openMergeKeeper(session, words, plan, torn),
  });
  const isComplete = applied.failed === 0;
  const left = leaveOut(session, leavingOut, isComplete);
  const undone = isComplete ? new Set<string>() : undoneOf(session, plan);
  if (isComplete) acceptTarget(session, link, pullTarget, theirs);
  else {
    // The base stays, and the next pull fetches the missing files.
    endArrival(session, link, notPlanned(fitting, plan));
    await dropOvertaken(session, store, { uuid: link.uuid, commit: target, undone: [...undone] });
  }
  const held = isComplete
    ? await bringHeld({ session, remote, link, hash: target, commit, words, twins })
    : NOTHING_HELD;
  const isDone = (path: string) => leavingOut.found[path] === undefined && !undone.has(path);
  const done = plan.changes.filter(({ path }) => isDone(path));
  const changes = await emitChanges(session, [done], { silent: true });
  return {
    ...summary,
    result: 'pulled',
    commit: isComplete ? target : (session.state.bases[session.remoteName] ?? null),
    changes: { ...changes, added: changes.added + held.brought },
    downloadedBytes: applied.bytes + held.bytes,
    decided: isComplete && left === 0 ? plan.decided : countDecided(plan, undone, leavingOut),
    ...(isComplete ? {} : { arriving: arrivingOf(session, target, applied.failed) }),
    ...applied.keeping,
    failed: problems + applied.failed + left + held.failed,
    requests: meter.totals(),
  };
}

function acceptTarget(
  session: Session,
  link: LinkedRepository,
  { commit, isOfBranch, named }: PullTarget,
  changes: readonly Change[],
): void {
  if (!isOfBranch) session.state = withDetached(session.state, session.remoteName, named.name);
  acceptCommit(session, link, { hash: commit, changes }, isOfBranch ? 'branch' : 'other');
  forgetCutRuns(session);
}

function upToDate(session: Session, commit: CommitHash, requests: PullSummary['requests']): PullSummary {
  return {
    result: 'upToDate',
    workspace: session.workspace.root,
    branch: session.state.branch,
    commit,
    changes: NO_CHANGES,
    downloadedBytes: 0,
    decided: 0,
    failed: 0,
    requests,
  };
}

function isUpToDate(session: Session, target: CommitHash): boolean {
  const isBase = session.state.bases[session.remoteName] === target;
  return isBase && arrivalsOf(session).length === 0 && !hasCutRuns(session) && !canHoldMore(session);
}

/** For summaries, after a run that did not bring everything. */
export function arrivingOf(session: Session, commit: CommitHash, missing: number): ArrivingCommit {
  const { command = 'dray pull' } = arrivalsOf(session).find((arrival) => arrival.commit === commit) ?? {};
  return { commit, missing, command };
}

/** The paths of changes whose result is not here. */
function undoneOf({ index }: Session, { changes }: MergePlan): ReadonlySet<string> {
  const undone = changes.filter(({ after, path }) => {
    const row = index.files.find(path, 0);
    const here = row && toChange(row).after;
    return after && here ? !isSameEntry(here, after) : after !== here;
  });
  return new Set(undone.map(({ path }) => path));
}

/** The conflicts whose side is here. A path that could not be written is not resolved. */
function countDecided({ conflicts }: MergePlan, undone: ReadonlySet<string>, { found }: LeavingOut): number {
  const open = [...undone, ...Object.keys(found)];
  const isDone = ({ path }: MergeConflict) =>
    !open.some((other) => other === path || other.startsWith(`${path}/`));
  return conflicts.filter(isDone).length;
}

/** What a pull did not have to write: the file here is the commit's, or was preferred to it. */
function notPlanned(theirs: readonly Change[], plan: MergePlan): readonly Change[] {
  const planned = new Set(plan.changes.map(({ path }) => path));
  return theirs.filter(({ path }) => !planned.has(path));
}

const NOTHING = { files: 0, bytes: 0 };

/** What an earlier run for the same commit has already written. */
function arrivedBefore(session: Session, target: CommitHash, left: typeof NOTHING): typeof NOTHING {
  const { bytes = 0, files = 0 } = arrivalsOf(session).find(({ commit }) => commit === target) ?? {};
  return { files: Math.max(0, files - left.files), bytes: Math.max(0, bytes - left.bytes) };
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0);
}

/** @throws `conflict` after an event for each path, unless the request decides */
async function planPull(
  session: Session,
  theirs: readonly Change[],
  other: OtherSide,
  request: PullRequest,
): Promise<MergePlan> {
  const theirPaths = new Set(theirs.map((change) => change.path));
  await hashFiles(session, unreadAmong(session, theirPaths));
  return planMerge(session, { ours: [...workingChanges(session)].flat(), theirs }, other, request);
}
