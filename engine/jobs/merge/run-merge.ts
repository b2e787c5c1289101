/** What merge and revert share: bring the changes of one commit over another into the working copy. */
import { DrayError } from '../../api/error.ts';
import type { MergeSummary, RevertRequest } from '../../api/jobs/merge.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import { settleUnconfirmedPush } from '../push/unconfirmed-push.ts';
import { requireKept } from '../retention/forgotten.ts';
import { arrivalsOf } from '../session/base/arrivals.ts';
import { type BaseCommit, ensureBase, fetchCommit } from '../session/base/base-commit.ts';
import { detachedAt } from '../session/branch/detached.ts';
import { commandLine } from '../session/command-line.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import { NO_CHANGES } from '../session/no-changes.ts';
import type { Session } from '../session/open-workspace.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { requireBase, type TypedCommit } from '../session/resolve-commit.ts';
import { applyAsEdits } from '../working-copy/apply-as-edits.ts';
import { hasCutRuns, settleCutRuns, takeTorn } from '../working-copy/interrupted-writes.ts';
import { checkNamesFit } from '../working-copy/names-fit.ts';
import { type MergePlan, openMergeKeeper, planMerge } from '../working-copy/plan-merge.ts';
import { refreshIndex, reportProblems, sweepUnfinished } from '../working-copy/refresh-index.ts';
import { createLeavingOut, leaveOut } from '../working-copy/unheld-entries.ts';
import { emitChanges } from '../working-copy/working-changes.ts';
import { continuing, type Pending, pendingMerge, refusePending, savePending } from './pending-merge.ts';
import { findTwoSides, type ThreeCommits, type TwoSides } from './three-way.ts';

export interface MergeRun {
  readonly session: Session;
  readonly remote: OpenedRemote;
  readonly link: LinkedRepository;
}

/** What a merge or a revert brings. */
export interface MergeTarget {
  readonly commits: ThreeCommits;
  /** Recorded before the first file is written. */
  readonly pending: Pending;
  readonly named: TypedCommit;
  /** The command line after `dray`. */
  readonly words: string;
}

export async function linkForMerge(session: Session, remote: OpenedRemote): Promise<MergeRun> {
  const link = await linkRepository(session, remote.store, session.state.branch);
  // A push that was killed late may have recorded the pending merge already.
  await settleUnconfirmedPush(session, remote.store, link);
  return { session, remote, link };
}

/**
 * The base of the workspace, which must be a whole commit of its branch.
 * @throws `conflict` if it is not, or while another merge is pending
 */
export function baseToMergeInto(session: Session, wanted: Pick<Pending, 'commit' | 'kind'>): CommitHash {
  const pending = pendingMerge(session);
  const isSame = pending?.commit === wanted.commit && pending.kind === wanted.kind;
  if (!isSame || !pending.isUnfinished) refusePending(session);
  const base = requireBase(session);
  const detached = detachedAt(session);
  if (!detached && arrivalsOf(session).length === 0) return base;
  const { branch } = session.state;
  // With one that is not whole, nothing else can be brought.
  const kind = isSame && pending.isUnfinished ? pending.kind : undefined;
  const command = commandLine(session, kind ? `${kind} --abort` : `switch ${branch}`);
  const why = detached
    ? `This workspace shows ${detached.ref}, and not its branch ${branch}.`
    : 'A transfer did not bring all files yet.';
  throw new DrayError('conflict', `${why} Nothing was changed.`, {
    data: { branch, reason: detached ? 'detached' : 'halfArrived' },
    advice: `Run "${command}" first.`,
    command,
  });
}

export function mergeSummary(
  { remote, session }: MergeRun,
  { commit, ref }: Pick<Pending, 'commit' | 'ref'>,
): Omit<MergeSummary, 'result'> {
  return {
    workspace: session.workspace.root,
    branch: session.state.branch,
    commit: requireBase(session),
    ref,
    other: commit,
    changes: NO_CHANGES,
    downloadedBytes: 0,
    decided: 0,
    failed: 0,
    requests: remote.meter.totals(),
  };
}

/** @throws `conflict` after an event for each path, unless the request decides; nothing was written then */
export async function runMerge(
  run: MergeRun,
  target: MergeTarget,
  request: RevertRequest,
): Promise<MergeSummary> {
  const { remote, session } = run;
  const { pending } = target;
  const scanned = await refreshIndex(session);
  const problems = reportProblems(session, scanned.problems);
  if (!request.dryRun) sweepUnfinished(session, scanned.problems);
  const { plan, torn } = await planRun(run, target, request);
  const summary = mergeSummary(run, pending);
  const changes = await emitChanges(session, [plan.changes], { silent: request.dryRun !== true });
  const found = { ...summary, changes, decided: plan.decided };
  if (request.dryRun) {
    const result = pending.kind === 'merge' ? 'wouldMerge' : 'wouldRevert';
    return { ...found, result, failed: problems, requests: remote.meter.totals() };
  }
  if (target.commits.theirs)
    await checkNamesFit(
      session,
      remote.store,
      await fetchCommit(session, remote.store, target.commits.theirs),
    );
  if (plan.changes.some(({ after }) => after?.kind === 'file')) await requireContent(run, target);
  savePending(session, { ...pending, isUnfinished: true });
  const leavingOut = createLeavingOut(session);
  const applied = await applyAsEdits({
    ...run,
    leavingOut,
    writing: { commit: target.commits.theirs ?? (pending.commit as CommitHash), words: target.words },
    deletions: plan.changes.flatMap(({ after, path }) => (after ? [] : [path])),
    writes: plan.changes.flatMap(({ after }): Entry[] => (after ? [after] : [])),
    givenUp: new Set([...plan.givenUp, ...torn]),
    keeper: openMergeKeeper(session, target.words, plan, torn),
  });
  const unheld = leaveOut(session, leavingOut, applied.failed === 0);
  if (applied.failed === 0) {
    savePending(session, pending);
    await settleCutRuns(session, remote.store, applied.base);
  } else warnUnfinished(session, pending);
  return {
    ...found,
    result: pending.kind === 'merge' ? 'merged' : 'reverted',
    downloadedBytes: applied.bytes,
    ...applied.keeping,
    failed: problems + applied.failed + unheld,
    requests: remote.meter.totals(),
  };
}

/**
 * What a revert goes back to may be forgotten: then it could never be finished. A merged commit was checked
 * when its name was resolved. @throws `forgotten`
 */
async function requireContent(
  { remote, session }: MergeRun,
  { commits, pending }: MergeTarget,
): Promise<void> {
  if (pending.kind === 'merge' || commits.theirs === undefined) return;
  await requireKept(remote.store, commits.theirs, { signal: session.context.signal });
}

async function planRun(
  { link, remote, session }: MergeRun,
  { commits, named, words }: MergeTarget,
  request: RevertRequest,
): Promise<{ readonly plan: MergePlan; readonly torn: ReadonlySet<string> }> {
  const { store } = remote;
  const base = await ensureBase(session, store, link);
  const sides = await findTwoSides({ session, store, base }, commits);
  const { ours, theirs, torn } = await withoutTorn({ link, remote, session }, base, sides);
  return { plan: planMerge(session, { ours, theirs }, { ref: named, words }, request), torn };
}

/** Files that a power cut damaged are no edits: they are written again. */
async function withoutTorn(
  { link, remote, session }: MergeRun,
  base: BaseCommit,
  { ours, theirs }: TwoSides,
): Promise<TwoSides & { readonly torn: ReadonlySet<string> }> {
  if (!hasCutRuns(session)) return { ours, theirs, torn: new Set() };
  const { changes, torn } = await takeTorn(session, remote.store, { base, target: base.commit }, theirs);
  // The base rows mirror no commit after that.
  await ensureBase(session, remote.store, link);
  return { ours: ours.filter(({ path }) => !torn.has(path)), theirs: changes, torn };
}

function warnUnfinished(session: Session, pending: Pending): void {
  const command = continuing(session, pending);
  const message = `The ${pending.kind} did not write all files: a push is refused until it has.`;
  const advice = `Run "${command}" again.`;
  session.context.emit({
    type: 'warning',
    warning: 'mergeUnfinished',
    message: `${message} ${advice}`,
    advice,
  });
}
