/**
 * `dray push`: records the working copy as a commit on the remote's branch. engine/jobs/README.md lists the
 * steps.
 */
import { DrayError } from '../../api/error.ts';
import type { QueryExplanation } from '../../api/events.ts';
import type { ChangeTotals, JobContext, PushRequest, PushSummary } from '../../api/jobs/jobs.ts';
import type { ExistenceQuery } from '../../query/existence/existence-query.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { pendingMerge, savePending } from '../merge/pending-merge.ts';
import {
  changesOutside,
  mergedCommit,
  refusePartOfMerge,
  refuseUnreadPart,
  settlePending,
} from '../merge/record-merge.ts';
import { arrivalsOf } from '../session/base/arrivals.ts';
import { acceptCommit, ensureBase } from '../session/base/base-commit.ts';
import { detachedField, refuseDetached } from '../session/branch/detached.ts';
import { refuseReplaced, seenBranch } from '../session/branch/replaced-history.ts';
import { warnIfUnsafe } from '../session/conditional-writes.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import { isNothing, NO_CHANGES } from '../session/no-changes.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { openExistenceQuery } from '../session/query-remote.ts';
import { refuseHalfArrived, warnOfHalfArrived } from '../working-copy/half-arrived.ts';
import { hashFiles, undecidedFiles } from '../working-copy/hash-files.ts';
import { forgetCutRuns, refuseTorn } from '../working-copy/interrupted-writes.ts';
import {
  type Refreshed,
  refreshIndex,
  reportProblems,
  sweepUnfinished,
  warnOfOutside,
} from '../working-copy/refresh-index.ts';
import { emitChanges, readChanges } from '../working-copy/working-changes.ts';
import { confirmUploads } from './confirm-uploads.ts';
import { refuseEmptied } from './emptied-files.ts';
import { warnOfCollisions } from './name-collision-warning.ts';
import {
  type CommitRecord,
  isCommitReplaced,
  mergeOntoTip,
  type PublishContext,
  publishChanges,
  refusePartAlone,
} from './publish-commit.ts';
import { createPushForecast, type PushForecast } from './push-forecast.ts';
import {
  forgetFaulty,
  forgetRemote,
  type Restoration,
  recheckBase,
  relocatedEntries,
  rememberIntact,
  restoredEntries,
} from './recheck-base.ts';
import { checkSkip, leaveOutSkipped } from './skipped-paths.ts';
import { settleUnconfirmedPush } from './unconfirmed-push.ts';
import { uploadFiles } from './upload-files.ts';

export async function push(context: JobContext, request: PushRequest): Promise<PushSummary> {
  checkSkip(request);
  using session = await openSession(context, 'push');
  await using remote = await openSessionRemote(
    session,
    makesFolder(session, request) ? { create: 'alone' } : {},
  );
  return await pushTo(session, remote, request);
}

/**
 * Only the first push makes a remote folder: one that is missing later may lie on a disk that is not mounted.
 */
function makesFolder({ config, remoteName }: Session, { dryRun = false }: PushRequest): boolean {
  return !dryRun && config.remotes[remoteName]?.repository === undefined;
}

/**
 * Stores again what the base lacks, from the working copy, and commits new places. It leaves the changes of
 * the working copy alone.
 * @throws `conflict` if the branch is not at the base
 */
export async function restoreBase(
  session: Session,
  remote: OpenedRemote,
  restoration: Restoration,
): Promise<PushSummary> {
  const prepared = await preparePush(session, remote, { noIndex: true }, restoration);
  const sent = await uploadFiles({ ...prepared, meter: remote.meter, forecast: undefined });
  let uploads = { uploadedObjects: sent.objects, uploadedBytes: sent.bytes };
  const outcome = { failed: prepared.failed + sent.failed, changes: NO_CHANGES };
  const relocated = await restoredEntries({ ...prepared, restoration });
  if (relocated.length === 0 && !isCommitReplaced(prepared)) {
    await confirmUploads(prepared);
    return { ...summary(prepared, { commit: tipOf(prepared), ...outcome }), ...uploads };
  }
  const storeAgain = async () => {
    const again = await uploadFiles({ ...prepared, meter: remote.meter, forecast: undefined });
    uploads = {
      uploadedObjects: uploads.uploadedObjects + again.objects,
      uploadedBytes: uploads.uploadedBytes + again.bytes,
    };
    return restoredEntries({ ...prepared, restoration });
  };
  const published = await publish(prepared, { ...outcome, relocated, storeAgain });
  return { ...published, ...uploads };
}

async function pushTo(session: Session, remote: OpenedRemote, request: PushRequest): Promise<PushSummary> {
  refusePartOfMerge(session, request);
  const prepared = await preparePush(session, remote, request);
  const merged = await mergedCommit(prepared, prepared.link.tip);
  const isPending = merged !== undefined || (await changesOutside(prepared, undefined)).length > 0;
  if (prepared.isUnchanged && !isPending) return nothingToPush(prepared);
  if (!request.allowEmptied) refuseEmptied(session);
  if (await isUnchangedElsewhere(prepared)) return nothingToPush(prepared);
  if (await isOnBranch(prepared, isPending)) return nothingToPush(prepared);
  refusePartAlone(prepared, prepared.link.tip);

  const forecast = request.dryRun === true ? createPushForecast(prepared.link) : undefined;
  const uploaded = await uploadFiles({ ...prepared, meter: remote.meter, forecast });
  const changes = await countChanges(session, forecast !== undefined);
  const failed = prepared.failed + uploaded.failed;
  refuseUnreadPart(session, failed);
  const sent = { uploadedObjects: uploaded.objects, uploadedBytes: uploaded.bytes };
  const relocated = prepared.base.isInDoubt ? await relocatedEntries(prepared) : [];
  if (isNothing(changes) && relocated.length === 0 && !isPending) {
    if (!forecast) await confirmUploads(prepared);
    return { ...nothingToPush({ ...prepared, failed }), ...sent };
  }
  warnOfCollisions(session);
  if (forecast) return forecastSummary(prepared, forecast, { failed, changes });
  const storeAgain = async () => {
    const again = await uploadFiles({ ...prepared, meter: remote.meter, forecast: undefined });
    sent.uploadedObjects += again.objects;
    sent.uploadedBytes += again.bytes;
    return prepared.base.isInDoubt ? await relocatedEntries(prepared) : [];
  };
  const published = await publish(prepared, { failed, changes, relocated, storeAgain });
  return { ...published, ...(merged ? { merged } : {}), ...sent };
}

interface PreparedPush extends PublishContext {
  readonly request: PushRequest;
  readonly remote: OpenedRemote;
  readonly query: ExistenceQuery;
  /** The scan found no difference from the base. */
  readonly isUnchanged: boolean;
  /** Files that could not be scanned. */
  readonly failed: number;
  readonly hardLinks: number;
}

/** Scans, and brings the base, the index and the existence query in line with the remote. */
async function preparePush(
  session: Session,
  remote: OpenedRemote,
  request: PushRequest,
  restoration?: Restoration,
): Promise<PreparedPush> {
  const { limit, store } = remote;
  const { settings } = session.index;
  const isInDoubt = request.noIndex === true;
  const scannedAgainst = settings.base;
  const { link, scanned } = await scanAndLink(session, store, request);
  if (!link.tip || arrivalsOf(session).length > 0) await refuseReplaced(session, remote, seenBranch(link));
  const failed = reportProblems(session, scanned.problems);
  if (!restoration) warnOfOutside(session, scanned.outside);
  if (request.dryRun !== true) sweepUnfinished(session, scanned.problems);
  await settleUnconfirmedPush(session, store, link);
  if (restoration) forgetFaulty(session, link, restoration);
  else if (isInDoubt) forgetRemote(session, link);
  const wasSettled = scannedAgainst !== undefined && settings.base === scannedAgainst;
  const found = await ensureBase(session, store, link, { isInDoubt, isScanned: true });
  const isDryRun = request.dryRun === true;
  const needsWholeBase = isInDoubt || restoration !== undefined;
  const base = await refuseHalfArrived({ session, store, link, base: found, needsWholeBase, isDryRun });
  await refuseTorn(session, store, base);
  if (!isDryRun) forgetCutRuns(session);
  if (base.isMixed) warnOfHalfArrived(session);
  const query = openExistenceQuery(session, remote, link, { base, mode: request.query });
  if (restoration) await rememberIntact({ session, store, link, base, restoration });
  else if (isInDoubt) await recheckBase({ session, store, link, base, query });
  leaveOutSkipped(session, request);
  // The scan compared with the base rows it found, which may have been another remote's.
  const isUnchanged = scanned.differing === 0 && wasSettled && settings.base === scannedAgainst;
  const publishing = { session, store, link, base, limit, branch: session.state.branch, restoration };
  const { hardLinks } = scanned;
  return { ...publishing, request, remote, query, isUnchanged, failed, hardLinks };
}

/**
 * Fetches the ref while the scan runs. If either fails, the other must end before the workspace is released.
 */
async function scanAndLink(
  session: Session,
  store: ObjectStore,
  { dryRun = false }: PushRequest,
): Promise<{ readonly scanned: Refreshed; readonly link: LinkedRepository }> {
  const linking = linkRepository(session, store, session.state.branch, {
    ifNone: dryRun ? 'foresee' : 'make',
  });
  const [scan] = await Promise.allSettled([refreshIndex(session), linking]);
  if (scan.status === 'rejected') throw scan.reason;
  return { scanned: scan.value, link: await linking };
}

/**
 * Whether the branch, moved by another push, already has this workspace's changes.
 * @throws `conflict`, before anything is sent
 */
async function isOnBranch(prepared: PreparedPush, isPending: boolean): Promise<boolean> {
  const { base, link, request, session, store } = prepared;
  if (!link.tip || (link.tip.commit === base.hash && !base.isMixed)) return false;
  await refuseReplaced(session, prepared, seenBranch(link));
  const { hasOurs, isOurs, theirs } = await mergeOntoTip(prepared, link.tip);
  // The branch has the content of the merge, and not yet its history or what lies outside of this part.
  if (isPending) return false;
  if (isOurs && request.dryRun !== true)
    acceptCommit(session, link, { hash: link.tip.commit, changes: theirs });
  if (hasOurs) await settlePending(session, store);
  return hasOurs;
}

/**
 * For a workspace that does not follow its branch: whether its files are those of its base.
 * @throws `conflict` if they are not
 */
async function isUnchangedElsewhere({ link, session, store }: PreparedPush): Promise<boolean> {
  try {
    await refuseDetached(session, store, link.tip);
    return false;
  } catch (error) {
    if (!(error instanceof DrayError) || error.data.reason !== 'detached') throw error;
    await hashFiles(session, undecidedFiles(session));
    if (session.index.files.changes(0).next().done) return true;
    throw error;
  }
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

interface Outcome {
  readonly failed: number;
  readonly changes: ChangeTotals;
}

async function publish(
  prepared: PreparedPush,
  { changes, failed, ...record }: Outcome & Pick<CommitRecord, 'relocated' | 'storeAgain'>,
): Promise<PushSummary> {
  const { link, request, session, store } = prepared;
  await warnIfUnsafe(session, store, link);
  session.context.emit({ type: 'phase', phase: 'commit' });
  const { commit, mergedWith } = await publishChanges(prepared, {
    message:
      request.message ?? pendingMerge(session)?.message ?? defaultMessage(changes, record.relocated.length),
    ...record,
  });
  return {
    ...summary(prepared, { commit, failed, changes }),
    result: 'pushed',
    ...(mergedWith ? { mergedWith } : {}),
  };
}

function forecastSummary(prepared: PreparedPush, forecast: PushForecast, outcome: Outcome): PushSummary {
  const { base, store } = prepared;
  const { confirmsWrites = false, provider } = store;
  const { changes } = outcome;
  const dry = summary(prepared, { commit: tipOf(prepared), ...outcome });
  const { objects, requests } = forecast.read({
    query: dry.query,
    changes,
    base: base.commit,
    provider,
    confirmsWrites,
  });
  return {
    ...dry,
    result: 'wouldPush',
    uploadedObjects: objects,
    uploadedBytes: requests.sentBytes,
    ...(prepared.link.layout.compression === undefined ? {} : { beforeCompression: true }),
    forecast: requests,
  };
}

function nothingToPush(prepared: PreparedPush): PushSummary {
  const { failed, request, session } = prepared;
  // A revert that changes nothing has nothing to record.
  if (request.dryRun !== true && failed === 0 && pendingMerge(session)?.kind === 'revert')
    savePending(session, undefined);
  const nothing = summary(prepared, { commit: tipOf(prepared), failed, changes: NO_CHANGES });
  return { ...nothing, ...detachedField(session) };
}

function tipOf({ link }: PreparedPush): string | null {
  return link.tip?.commit ?? null;
}

function summary(
  { branch, hardLinks, query, remote, session }: PreparedPush,
  { changes, commit, failed }: Outcome & { readonly commit: string | null },
): PushSummary {
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
    ...(hardLinks > 0 ? { notKept: { hardLinks } } : {}),
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
