/**
 * `dray push`: records the working copy as a commit on the remote's branch. engine/jobs/README.md lists the
 * steps.
 */
import { DrayError } from '../../api/error.ts';
import type { QueryExplanation } from '../../api/events.ts';
import type { ChangeTotals, JobContext, PushRequest, PushSummary } from '../../api/jobs.ts';
import { createExistenceQuery, type ExistenceQuery } from '../../query/existence/existence-query.ts';
import { refuseInterruptedPull } from '../pull/interrupted-pull.ts';
import { acceptCommit, ensureBase } from '../session/base-commit.ts';
import { warnIfUnsafe } from '../session/conditional-writes.ts';
import { linkRepository } from '../session/link-repository.ts';
import { isNothing, NO_CHANGES } from '../session/no-changes.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { existenceOptions } from '../session/query-remote.ts';
import { openSession, type Session } from '../session/session.ts';
import { refuseTorn } from '../working-copy/interrupted-writes.ts';
import { refreshIndex, reportProblems, sweepUnfinished } from '../working-copy/refresh-index.ts';
import { emitChanges, readChanges } from '../working-copy/working-changes.ts';
import { refuseEmptied } from './emptied-files.ts';
import { warnOfCollisions } from './name-collision-warning.ts';
import { mergeOntoTip, type PublishContext, publishChanges } from './publish-commit.ts';
import { createPushForecast } from './push-forecast.ts';
import { forgetRemote, recheckBase, relocatedEntries } from './recheck-base.ts';
import { settleUnconfirmedPush } from './unconfirmed-push.ts';
import { uploadFiles } from './upload-files.ts';

export async function push(context: JobContext, request: PushRequest): Promise<PushSummary> {
  checkSkip(request);
  const session = await openSession(context, 'push');
  try {
    const remote = await openSessionRemote(session, makesFolder(session, request) ? { create: 'alone' } : {});
    try {
      return await pushTo(session, remote, request);
    } finally {
      await remote.store.close();
    }
  } finally {
    session.close();
  }
}

/**
 * Only the first push makes a remote folder: one that is missing later may lie on a disk that is not mounted.
 */
function makesFolder({ config, remoteName }: Session, { dryRun = false }: PushRequest): boolean {
  return !dryRun && config.remotes[remoteName]?.repository === undefined;
}

async function pushTo(session: Session, remote: OpenedRemote, request: PushRequest): Promise<PushSummary> {
  const { store, meter, limit } = remote;
  const branch = session.state.branch;
  const scannedAgainst = session.index.settings.base;
  // The ref is fetched while the scan runs. If either fails, the other must end before the workspace is
  // released.
  const linking = linkRepository(session, store, branch, {
    ifNone: request.dryRun === true ? 'foresee' : 'make',
  });
  const [scan] = await Promise.allSettled([refreshIndex(session), linking]);
  if (scan.status === 'rejected') throw scan.reason;
  const scanned = scan.value;
  const link = await linking;
  let failed = reportProblems(session, scanned.problems);
  if (request.dryRun !== true) sweepUnfinished(session, scanned.problems);
  await settleUnconfirmedPush(session, store, link);
  const isRecheck = request.noIndex === true;
  if (isRecheck) forgetRemote(session, link);
  const wasSettled = scannedAgainst !== undefined && session.index.settings.base === scannedAgainst;
  const base = await ensureBase(session, store, link, { isInDoubt: isRecheck });
  await refuseInterruptedPull(session, store, base, request);
  await refuseTorn(session, store, base, request);
  const scope = { repository: link.known.id, isBaseInDoubt: isRecheck };
  const query = createExistenceQuery(existenceOptions(session, remote, link, { mode: request.query, scope }));
  if (isRecheck) await recheckBase({ session, store, link, base, query });
  leaveOutSkipped(session, request);
  // The scan compared with the base rows it found, which may have been another remote's.
  const isUnchanged = scanned.differing === 0 && wasSettled && session.index.settings.base === scannedAgainst;
  const commit = link.tip?.commit ?? null;
  if (isUnchanged) return summary({ session, remote, query, branch, commit, failed, changes: NO_CHANGES });

  refuseEmptied(session, request);
  const forecast = request.dryRun === true ? createPushForecast(link) : undefined;
  const publishing: PublishContext = { session, store, link, base, limit, branch };
  if (link.tip && link.tip.commit !== base.hash) {
    // A conflict found before anything is sent costs nothing.
    const { hasOurs, isOurs, theirs } = await mergeOntoTip(publishing, link.tip);
    if (isOurs && !forecast) acceptCommit(session, link, { hash: link.tip.commit, changes: theirs });
    if (hasOurs) return summary({ session, remote, query, branch, commit, failed, changes: NO_CHANGES });
  }
  const uploaded = await uploadFiles({
    session,
    store,
    link,
    query,
    limit,
    scope,
    forecast,
    meter,
  });
  failed += uploaded.failed;
  const changes = await countChanges(session, forecast !== undefined);
  const sent = { uploadedObjects: uploaded.objects, uploadedBytes: uploaded.bytes };
  const relocated = isRecheck ? await relocatedEntries({ session, store, link, base, query }) : [];
  if (isNothing(changes) && relocated.length === 0) {
    return { ...summary({ session, remote, query, branch, commit, failed, changes }), ...sent };
  }
  warnOfCollisions(session);
  if (forecast) {
    const dry = summary({ session, remote, query, branch, commit, failed, changes });
    const { confirmsWrites = false, provider } = store;
    const foreseen = forecast.read({
      query: dry.query,
      changes,
      base: base.commit,
      provider,
      confirmsWrites,
    });
    return {
      ...dry,
      result: 'wouldPush',
      uploadedObjects: foreseen.objects,
      uploadedBytes: foreseen.requests.sentBytes,
      forecast: foreseen.requests,
    };
  }
  await warnIfUnsafe(session, store, link);
  session.context.emit({ type: 'phase', phase: 'commit' });
  const published = await publishChanges(publishing, {
    message: request.message ?? defaultMessage(changes, relocated.length),
    relocated,
  });
  return {
    ...summary({ session, remote, query, branch, commit: published.commit, failed, changes }),
    ...sent,
    result: 'pushed',
    ...(published.mergedWith ? { mergedWith: published.mergedWith } : {}),
  };
}

/** `--no-index` reads what equals the base, but a skipped path only counts as equal to it. */
function checkSkip({ noIndex, skip }: PushRequest): void {
  if (noIndex && skip && skip.length > 0)
    throw new DrayError('usage', '--no-index checks the whole remote again and cannot skip paths.');
}

/**
 * Marks the skipped paths as equal to the base for the rest of this push; the next scan finds their changes
 * again.
 */
function leaveOutSkipped({ index }: Session, { skip = [] }: PushRequest): void {
  if (skip.length === 0) return;
  index.transaction(() => {
    for (const path of skip) {
      index.files.leaveOut(path);
      if (!path.endsWith('/')) continue;
      // Keyset pages: removing changes from this page does not shift the next one.
      for (const page of index.files.changes(0, { below: path }))
        for (const change of page) index.files.leaveOut(change.path);
    }
    const torn = skip.find((path) => index.files.isTornAt(path));
    if (torn !== undefined) throw halfLeftOut(torn);
  });
}

function halfLeftOut(path: string): DrayError {
  const message = `${path} cannot be skipped alone: a file became a folder there, or a folder a file, and the commit would have both. Skip both, or neither.`;
  return new DrayError('usage', message, { data: { path } });
}

/**
 * Emits each change only for a dry run. Otherwise counts them, and pairs them into renames where renames are
 * possible.
 */
async function countChanges(session: Session, isReported: boolean): Promise<ChangeTotals> {
  const counted = session.index.files.changeTotals();
  const hasNoRenames = counted.added === 0 || counted.deleted === 0;
  if (!isReported && hasNoRenames) return { ...counted, renamed: 0 };
  return emitChanges(session, readChanges(session), { silent: !isReported, hasNoRenames });
}

interface SummaryFacts {
  readonly session: Session;
  readonly remote: OpenedRemote;
  readonly query: ExistenceQuery;
  readonly branch: string;
  readonly commit: string | null;
  readonly failed: number;
  readonly changes: ChangeTotals;
}

function summary(facts: SummaryFacts): PushSummary {
  const { session, remote, query, branch, commit, failed, changes } = facts;
  const explanation: QueryExplanation = query.explanation();
  session.context.emit({ type: 'plan', query: explanation });
  return {
    result: 'nothingToPush',
    branch,
    commit,
    changes,
    uploadedObjects: 0,
    uploadedBytes: 0,
    failed,
    query: explanation,
    requests: remote.meter.totals(),
  };
}

/** The default message of a commit. */
function defaultMessage(changes: ChangeTotals, relocated: number): string {
  if (isNothing(changes)) return `Repair: ${relocated} stored again`;
  const parts = (['added', 'modified', 'deleted', 'renamed', 'mode'] as const)
    .filter((kind) => changes[kind] > 0)
    .map((kind) => `${changes[kind]} ${kind === 'mode' ? 'mode changed' : kind}`);
  return `Push: ${parts.join(', ')}`;
}
