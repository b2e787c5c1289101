/** `dray status`: what changed here since the last push or pull. Asks the remote only on request. */
import type { JobContext, StatusRequest, StatusSummary } from '../../api/jobs/jobs.ts';
import { pendingField } from '../merge/pending-merge.ts';
import { arrivalsOf } from '../session/base/arrivals.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import { ensureBase, fetchCommit, hasBaseRows } from '../session/base/base-commit.ts';
import { detachedField } from '../session/branch/detached.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import { isNothing, NO_CHANGES } from '../session/no-changes.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { warnOfHalfArrived } from './half-arrived.ts';
import { warnOfCutRuns } from './interrupted-writes.ts';
import type { Refreshed } from './refresh-index.ts';
import { emitChanges, settleWorkingCopy, workingChanges } from './working-changes.ts';

export async function status(context: JobContext, request: StatusRequest): Promise<StatusSummary> {
  using session = await openSession(context, 'status', 'snapshot');
  warnOfHalfArrived(session);
  warnOfCutRuns(session);
  const needsRemote = request.remote === true || !hasBaseRows(session);
  await using remote = needsRemote ? await openSessionRemote(session) : undefined;
  const link = remote && (await linkRepository(session, remote.store, session.state.branch));
  if (remote && link) await ensureBase(session, remote.store, link);
  const { scanned, failed } = await settleWorkingCopy(session);
  const arriving = arrivalsOf(session).at(-1)?.commit;
  const changes = scanned.differing === 0 ? NO_CHANGES : await emitChanges(session, workingChanges(session));
  return {
    branch: session.state.branch,
    commit: session.state.bases[session.remoteName] ?? null,
    ...(arriving === undefined ? {} : { arriving }),
    files: scanned.files,
    bytes: scanned.bytes,
    changes,
    failed,
    ...scopeStatus(session, scanned),
    ...detachedField(session),
    ...pendingField(session),
    ...(request.remote && remote && link
      ? { upstream: await upstreamOf(session, remote, link, !isNothing(changes)) }
      : {}),
  };
}

function scopeStatus({ state }: Session, { outside }: Refreshed): Pick<StatusSummary, 'scope'> {
  return state.scope ? { scope: { only: state.scope.only, outside } } : {};
}

async function upstreamOf(
  session: Session,
  { store }: OpenedRemote,
  link: LinkedRepository,
  isChanged: boolean,
): Promise<NonNullable<StatusSummary['upstream']>> {
  if (!link.tip) return { state: 'absent', commit: null, changes: NO_CHANGES };
  const base = await ensureBase(session, store, link);
  if (link.tip.commit === base.hash) return { state: 'same', commit: link.tip.commit, changes: NO_CHANGES };
  const tip = await fetchCommit(session, store, link.tip.commit);
  const theirs = changesFromBase(session, store, base, tip);
  const changes = await emitChanges(session, theirs, { silent: true });
  return { state: isChanged ? 'diverged' : 'behind', commit: link.tip.commit, changes };
}
