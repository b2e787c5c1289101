/** `dray diff`: the differences between two commits, or between a commit and the working copy. */
import type { DiffRequest, DiffSummary } from '../../api/jobs/diff.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { type Change, isSameEntry } from '../../model/diff.ts';
import { diffSortedBatches } from '../../model/diff-sorted.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { diffCommits } from '../../repository/diff-commits.ts';
import { whileKept } from '../retention/forgotten.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import { ensureBase, fetchCommit, hasBaseRows } from '../session/base/base-commit.ts';
import { linkRepository } from '../session/link-repository.ts';
import { NO_CHANGES } from '../session/no-changes.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveContent } from '../session/resolve-commit.ts';
import { hashFiles, unreadAmong } from './hash-files.ts';
import { emitChanges, settleWorkingCopy, workingChanges } from './working-changes.ts';

export async function diff(context: JobContext, request: DiffRequest): Promise<DiffSummary> {
  using session = await openSession(context, 'diff', 'snapshot');
  if (request.from === undefined && hasBaseRows(session)) return await diffWorking(session);
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  if (request.from === undefined) {
    await ensureBase(session, store, await linkRepository(session, store, session.state.branch));
    return await diffWorking(session);
  }
  const from = await resolveContent(session, store, request.from);
  const to = request.to === undefined ? undefined : await resolveContent(session, store, request.to);
  const compare = async () =>
    to === undefined
      ? await diffCommitToWorking(session, store, from)
      : await whileKept(store, to, () => diffTwo(session, store, from, to), { signal: context.signal });
  return await whileKept(store, from, compare, { signal: context.signal });
}

async function diffTwo(
  session: Session,
  store: ObjectStore,
  from: CommitHash,
  to: CommitHash,
): Promise<DiffSummary> {
  const before = await fetchCommit(session, store, from);
  const after = await fetchCommit(session, store, to);
  const { signal } = session.context;
  const changes = await emitChanges(session, diffCommits(store, before, after, { signal }));
  return { from, to, changes };
}

const WORKSPACE = 'workspace';

async function diffWorking(session: Session): Promise<DiffSummary> {
  const { scanned } = await settleWorkingCopy(session);
  const changes = scanned.differing === 0 ? NO_CHANGES : await emitChanges(session, workingChanges(session));
  return { from: session.state.bases[session.remoteName] ?? 'nothing', to: WORKSPACE, changes };
}

/** The changes from the commit to the base, with the working copy's own on top. Reads only what differs. */
async function diffCommitToWorking(
  session: Session,
  store: ObjectStore,
  from: CommitHash,
): Promise<DiffSummary> {
  const before = await fetchCommit(session, store, from);
  const link = await linkRepository(session, store, session.state.branch);
  const base = await ensureBase(session, store, link);
  await settleWorkingCopy(session);
  await hashFiles(session, unreadAmong(session));
  const toBase = reverse(changesFromBase(session, store, base, before));
  const changes = await emitChanges(session, composeChanges(toBase, workingChanges(session)));
  return { from, to: WORKSPACE, changes };
}

async function* reverse(
  pages: AsyncIterable<readonly Change[]>,
): AsyncGenerator<readonly Change[], void, undefined> {
  for await (const page of pages)
    yield page.map(({ after, before, path }) => ({ path, before: after, after: before }));
}

/** The changes of two steps in one: from the first state to the last. */
async function* composeChanges(
  first: AsyncIterable<readonly Change[]>,
  second: Iterable<readonly Change[]>,
): AsyncGenerator<readonly Change[]> {
  for await (const page of diffSortedBatches(first, second, () => false)) {
    const composed: Change[] = [];
    for (const { path, left, right } of page) {
      const before = left ? left.before : right?.before;
      const after = right ? right.after : left?.after;
      if (!before && !after) continue;
      if (before && after && isSameEntry(before, after)) continue;
      composed.push({ path, before, after });
    }
    if (composed.length > 0) yield composed;
  }
}
