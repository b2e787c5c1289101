/**
 * `dray copy` and `dray sync`: copy what differs from one place to another, as plain files and objects.
 *
 * Source and destination are walked side by side while transfers already run; no list holds all names. Copied
 * and equal items are remembered, so that the next run needs no closer comparison of them. `sync` deletes
 * last, and only after success.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DrayError, type ErrorCode } from '../../api/error.ts';
import type { LookupExplanation } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CopyRequest, SyncRequest, TransferSummary } from '../../api/jobs/trees.ts';
import { systemClock } from '../../base/clock.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { TaskSet } from '../../base/task-set.ts';
import { createDiskRefusals } from '../../files/disk/disk-refusals.ts';
import { findUnsyncedMarks, removeUnsyncedMarks, type UnsyncedMark } from '../../files/disk/unsynced-mark.ts';
import { newFolderMode } from '../../files/scan/local-place.ts';
import { writeError } from '../../files/write/write-error.ts';
import { createHeldParts } from '../../model/held-part.ts';
import { createTreeFilter, withoutBounds } from '../../model/tree-filter.ts';
import { TEMPORARY_FOLDER_NAME } from '../../model/unfinished-name.ts';
import { UnorderedListing } from '../../query/trees/object-pages.ts';
import { createLookupTally, type LookupTally } from '../../query/trees/tree-lookup.ts';
import { listsInNoOrder } from '../../remotes/wrappers/within-range.ts';
import { holdsSomething, isEmptyFolder } from '../places/source-presence.ts';
import { warnOfNetworkDisk } from '../session/network-disk-warning.ts';
import { readOnlyErrorOf } from '../session/read-only-peer.ts';
import { addTotals, trafficOf } from '../session/traffic.ts';
import { warnOfRefusals } from '../session/warn-of-refusals.ts';
import { createCloserComparison } from './closer-comparison.ts';
import { createTreeConfirmation } from './confirm-written.ts';
import { createForecast } from './copy-forecast.ts';
import { createTreeProgress } from './copy-progress.ts';
import { createTreeCounts, stopRun, type TreeCounts, type TreeRun } from './copy-run.ts';
import { bringNew, takeSteps } from './copy-steps.ts';
import { copyStream, isStream } from './copy-stream.ts';
import { createTreeGuard } from './create-tree-guard.ts';
import { openBackup } from './delete/backup-folder.ts';
import { createDeferredItems } from './delete/deferred-items.ts';
import { createDeletes, protectedRepository } from './delete/deletions.ts';
import { createTreeFolders } from './folders/folder-attributes.ts';
import { matchTrees } from './match-items.ts';
import { createMover, createTreeMemory, phaseOf } from './move/movers.ts';
import { belowFilesOf } from './names/below-files.ts';
import { clashesOf } from './names/name-clashes.ts';
import { nameRefuser } from './names/refused-names.ts';
import { openTreePair, type TreePair } from './open-pair.ts';
import { openKnowledge } from './pair-memory.ts';
import type { LocalSide, TreeSide } from './sides.ts';
import { countDeletes, type PartOutcome, type TreePart } from './tree-part.ts';
import { warnOfUnmatchedRules } from './unmatched-rules.ts';

/** Never deletes. One file or object may also be copied from or to a stream (`-`). */
export async function copyTree(context: JobContext, request: CopyRequest): Promise<TransferSummary> {
  if (isStream(request)) return copyStream(context, request);
  return (await transferTree(context, request, { isSync: false })).summary;
}

/** Makes the destination equal to the source, within the filter. */
export async function syncTree(context: JobContext, request: SyncRequest): Promise<TransferSummary> {
  return (await transferTree(context, request, { isSync: true })).summary;
}

/** Copies or syncs a part of the two trees. A refusal to delete is part of the outcome. */
export function transferPart(
  context: JobContext,
  request: SyncRequest,
  options: { readonly isSync: boolean; readonly part: TreePart },
): Promise<PartOutcome> {
  return transferTree(context, request, options);
}

async function transferTree(
  context: JobContext,
  request: SyncRequest,
  { isSync, part }: { readonly isSync: boolean; readonly part?: TreePart },
): Promise<PartOutcome> {
  checkLooks(request, isSync);
  // Reports an invalid pattern before any request.
  createTreeFilter(request.filter ?? {});
  await using pair = await openTreePair(context, request, {
    links: request.links,
    folders: true,
    range: part?.range,
  });
  using knowledge = openKnowledge(context, {
    pair: pair.identity,
    noIndex: request.noIndex ?? false,
    isTemporary: part !== undefined,
    nowMs: systemClock.nowMs(),
  });
  const options = { context, request, isSync, pair, part, knowledge };
  try {
    return await transferOnce({ ...options, isSorted: false });
  } catch (error) {
    // A store that lists in no order: start over with a sort on disk. What was copied already is now
    // equal.
    if (!(error instanceof UnorderedListing)) throw error;
    if (part) throw listsInNoOrder(pair.source.text);
    return await transferOnce({ ...options, isSorted: true });
  }
}

/** @throws `usage` for an option that needs a listing of the destination */
function checkLooks(request: SyncRequest, isSync: boolean): void {
  const { backupDirectory, immutable, noCheckDestination, update } = request;
  if (!noCheckDestination) return;
  const option = backupDirectory
    ? '--backup-dir'
    : immutable
      ? '--immutable'
      : update
        ? '--update'
        : undefined;
  if (option === undefined && !isSync) return;
  const who = option === undefined ? 'A sync has' : `${option} needs`;
  throw new DrayError('usage', `${who} to list the destination: leave out --no-check-dest.`);
}

interface Transfer extends Pick<TreeRun, 'context' | 'isSync' | 'knowledge' | 'part' | 'request'> {
  readonly pair: TreePair;
  readonly isSorted: boolean;
}

async function transferOnce(transfer: Transfer): Promise<PartOutcome> {
  const { context, pair, part, request } = transfer;
  const run = openRun(transfer);
  const lookup = createLookupTally();
  if (run.destination.kind === 'local' && !existsSync(run.destination.root)) await run.guard.before('');
  const isRootNew =
    !request.dryRun && run.destination.kind === 'local' && makeRoot(run.destination, run.source);
  const refuse = nameRefuser(run.destination);
  const folders = createTreeFolders(run, { isRootNew, refuse });
  const mover = await createMover(run);
  if (mover.sync)
    run.knowledge.keepSynced(
      () => mover.sync!(),
      (error) => run.tasks.fail(error),
    );
  // Opened in a dry run too, which reports a folder that cannot be used.
  const backup =
    request.backupDirectory &&
    (await openBackup(run, request.backupDirectory, {
      isSingle: pair.only !== undefined,
      meters: pair.meters,
    }));
  let refused: { readonly error: DrayError } | undefined;
  const extras = { files: 0, repositories: 0 };
  let waiting = 0;
  try {
    const deferred = run.isSync ? createDeferredItems(run, (item) => bringNew(run, mover, item)) : undefined;
    const deletes =
      part?.deletes === 'count'
        ? countDeletes(extras, (path) => protectedRepository(run, path) !== undefined)
        : createDeletes(run, {
            mover,
            backup,
            deferred,
            beforeFirst: async () => folders?.beforeRemovals(),
          });
    const clashes = await clashesOf(run);
    const work = {
      mover,
      comparison: createCloserComparison(run),
      deletes,
      deferred,
      backup,
      folders,
      refuse,
      clashes,
      belowFiles: belowFilesOf(run),
    };
    await settling(run.tasks, () =>
      takeSteps(run, work, matchTrees(run, { only: pair.only, lookup, isSorted: transfer.isSorted })),
    );
    await run.confirmation.settle();
    await checkSource(run, pair);
    if (run.isSync) refused = await deletes.carryOut().then(nothing, asRefused);
    if (part?.deletes === 'count') waiting = deferred?.size ?? 0;
    else deferred?.giveUp();
    await run.confirmation.settle();
    await foreseeReadOnly(run);
    await run.knowledge.settle();
    if (!request.dryRun) settleDisk(run);
  } finally {
    // Also after a stop: the next run then knows what this one has copied.
    await run.knowledge.settle().finally(() => mover.close());
    await backup?.close();
  }
  // After the mover has removed its folder of unfinished files, which changes times.
  await folders?.settle();
  warnOfRefusals(context, run.refusals, pair.destination.text);
  if (refused && !part) throw refused.error;
  run.progress.end();
  if (!part) warnOfNames(run, pair);
  const explanation: LookupExplanation = explain(run, lookup);
  context.emit({ type: 'lookup', lookup: explanation });
  const summary = summaryOf(run, pair);
  const { destinationFiles } = run.counts;
  return { summary, destinationFiles, extras, waiting, ...(refused ? { refused: refused.error } : {}) };
}

/** A single file is no tree. */
function warnOfNames({ context, filter, isSync, names }: TreeRun, { only, source }: TreePair): void {
  if (!only) warnOfUnmatchedRules(context, isSync ? names : filter, source.text);
}

function openRun({ context, isSync, knowledge, pair, part, request }: Transfer): TreeRun {
  const clock = systemClock;
  const { destination, source } = pair;
  const tasks = new TaskSet(context.signal);
  const counts = createTreeCounts();
  const stops: ErrorCode[] = [];
  return {
    context,
    request,
    isSync,
    part,
    clock,
    source,
    destination,
    filter: createTreeFilter(request.filter ?? {}),
    names: createTreeFilter(withoutBounds(request.filter ?? {})),
    stops,
    tasks,
    memory: createTreeMemory(request),
    knowledge,
    confirmation: createTreeConfirmation({ context, counts, destination, knowledge, request, tasks }),
    counts,
    refusals: destination.kind === 'local' && !request.dryRun ? createDiskRefusals() : undefined,
    runNote: noteOf(pair, request),
    parts: createHeldParts(),
    guard: createTreeGuard({ context, destination, part, request, source, stops, tasks }, pair),
    inDoubtSinceMs: inDoubtSince(pair),
    forecast: request.dryRun ? createForecast(pair, request.partSizeBytes) : undefined,
    progress: createTreeProgress({ context, clock }, phaseOf(pair), trafficOf(pair)),
  };
}

/** The note in this run's mark: equal for equal commands. */
function noteOf({ identity }: TreePair, { filter }: SyncRequest): string {
  return createHash('sha256')
    .update(
      JSON.stringify([identity, filter ?? {}], (_name, value) =>
        typeof value === 'bigint' ? `${value}` : value,
      ),
    )
    .digest('hex');
}

/** When the first interrupted run began to write to the destination. */
function inDoubtSince(pair: TreePair): number | undefined {
  const marks = marksAt(pair.destination);
  return marks.length === 0 ? undefined : Math.min(...marks.map(({ madeMs }) => madeMs));
}

/** After a run without failures, removes the marks of earlier interrupted runs of the same command. */
function settleDisk({ context, counts, destination, runNote }: TreeRun): void {
  if (destination.kind === 'local' && counts.copiedFiles > 0) warnOfNetworkDisk(context, destination.root);
  if (counts.failed > 0) return;
  removeUnsyncedMarks(marksAt(destination).filter(({ note }) => note === runNote));
}

function marksAt(destination: TreeSide): readonly UnsyncedMark[] {
  return destination.kind === 'local' ? findUnsyncedMarks(join(destination.root, TEMPORARY_FOLDER_NAME)) : [];
}

/** Runs the walk and the tasks that it starts. The first failure ends both, and nothing is left running. */
async function settling(tasks: TaskSet, walk: () => Promise<void>): Promise<void> {
  try {
    await walk();
  } catch (error) {
    tasks.fail(error);
  }
  await tasks.settle();
}

/** Refuses an empty source that is probably mistyped: a sync would empty the destination. */
async function checkSource(
  { counts, filter, source, tasks }: TreeRun,
  { mayBeEmpty }: TreePair,
): Promise<void> {
  if (source.kind === 'local' || mayBeEmpty || filter.paths) return;
  if (counts.files + counts.failed + counts.skippedFiles > 0) return;
  // The filter may be what leaves nothing.
  if (!filter.isOpen && (await holdsSomething(source, tasks.signal))) return;
  if (await isEmptyFolder(source, tasks.signal)) return;
  throw new DrayError('notFound', `There is nothing at the source ${source.text}.`, {
    data: { place: source.text },
  });
}

function explain({ counts }: TreeRun, lookup: LookupTally): LookupExplanation {
  const { decidedByHash, decidedByHead, decidedByIndex, files, timesAsked, timesRemembered } = counts;
  const decided = { decidedByIndex, decidedByHash, decidedByHead };
  return { ...lookup, sourceFiles: files, ...decided, timesAsked, timesRemembered };
}

function summaryOf(run: TreeRun, pair: TreePair): TransferSummary {
  const { counts, destination, forecast, request, source } = run;
  const {
    bytes,
    copiedBytes,
    copiedFiles,
    copiedInStore,
    deletedFiles,
    failed,
    files,
    receivedBytes,
    sentBytes,
    skippedFiles,
    touchedFiles,
    touchedFolders,
    unchangedFiles,
  } = counts;
  return {
    result: countChanges(counts) === 0 ? 'upToDate' : request.dryRun ? 'wouldCopy' : 'copied',
    source: source.text,
    destination: destination.text,
    files,
    bytes,
    copiedFiles,
    copiedBytes,
    copiedInStore,
    touchedFiles,
    touchedFolders,
    deletedFiles,
    unchangedFiles,
    skippedFiles,
    failed,
    sentBytes,
    receivedBytes,
    requests: addTotals(pair.meters),
    ...notKeptOf(counts),
    ...(run.stops.length > 0 ? { wouldStop: run.stops[0]! } : {}),
    ...(forecast ? { forecast: forecast.totals(deletedFiles) } : {}),
  };
}

/** Absent unless there is something. */
function notKeptOf({ notKept }: TreeCounts): Pick<TransferSummary, 'notKept'> {
  const { emptyFolder, hardLink, holes } = notKept;
  if (emptyFolder + hardLink + holes === 0) return {};
  return {
    notKept: {
      ...(emptyFolder > 0 ? { emptyFolders: emptyFolder } : {}),
      ...(hardLink > 0 ? { hardLinks: hardLink } : {}),
      ...(holes > 0 ? { sparseFiles: holes } : {}),
    },
  };
}

function countChanges({ copiedFiles, deletedFiles, touchedFiles, touchedFolders }: TreeCounts): number {
  return copiedFiles + touchedFiles + touchedFolders + deletedFiles;
}

/** A dry run writes nothing, so it asks a peer whether it would refuse. */
async function foreseeReadOnly(run: TreeRun): Promise<void> {
  const { counts, destination, request, tasks } = run;
  if (!request.dryRun || destination.kind === 'local' || countChanges(counts) === 0) return;
  const refusal = await readOnlyErrorOf(destination, tasks.signal);
  if (refusal) stopRun(run, 'readOnlyPeer', refusal);
}

const nothing = (): undefined => undefined;

/**
 * Files that were copied stay and their folders get their times.
 * @throws any error but a refusal of `Deletes.carryOut`
 */
function asRefused(error: unknown): { readonly error: DrayError } {
  if (error instanceof DrayError && (error.code === 'partial' || error.code === 'tooManyDeletes'))
    return { error };
  throw error;
}

/** Returns whether it was absent. @throws `conflict` when a file is in the folder's place, `io` */
function makeRoot({ folders, root }: LocalSide, source: TreeSide): boolean {
  try {
    const mode = folders && source.kind === 'local' ? newFolderMode(`${source.root}/`) : undefined;
    if (mode === undefined || existsSync(root)) return makeFolders(root);
    makeFolders(dirname(root));
    mkdirSync(root, { mode });
    return true;
  } catch (error) {
    throw writeError(error, root);
  }
}
