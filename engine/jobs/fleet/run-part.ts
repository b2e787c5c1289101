/** Runs one part: `dray copy`, `sync`, `check` or `verify` between two keys, or the storing of a push. */
import * as v from 'valibot';
import type {
  FleetCounts,
  FleetRequest,
  FleetWork,
  PartRequest,
  RunPartRequest,
} from '../../api/jobs/fleet.ts';
import { NO_FLEET_COUNTS } from '../../api/jobs/fleet.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CheckTreesSummary, SyncRequest, TreeFilterRequest } from '../../api/jobs/trees.ts';
import { checkTrees } from '../trees/check/check-trees.ts';
import { transferPart } from '../trees/copy-tree.ts';
import type { PartOutcome } from '../trees/tree-part.ts';
import { collectFailures, type FailureList, type KnownFailures, readFailures } from './failures.ts';
import { type FleetFolder, withFleet } from './fleet-folder.ts';
import { type FleetPart, knownPart, partName } from './fleet-part.ts';
import { boundsOf } from './plan/plan-ranges.ts';
import { pushPart } from './push/push-part.ts';
import { verifyPart } from './verify/verify-part.ts';

export function runPart(context: JobContext, work: FleetWork, request: RunPartRequest): Promise<FleetCounts> {
  return withFleet(context, work, async (folder, job) => {
    const part = await knownPart(folder, request);
    const isDeleting = request.deletes === 'carryOut';
    const failures = collectFailures(context, request, { isDeleting });
    const deletesMax = isDeleting ? await readDeletes(folder, request) : undefined;
    const counts = await runKind(folder, job.request, part, { failures, deletesMax });
    await failures.save(folder);
    if (!isDeleting && counts.onlyInDestination + counts.waiting > 0)
      await writeDeletes(folder, request, counts.onlyInDestination);
    return counts;
  });
}

export function retryFailed(
  context: JobContext,
  work: FleetWork,
  request: PartRequest,
): Promise<{ readonly retried: number; readonly counts: FleetCounts }> {
  return withFleet(context, work, async (folder, job) => {
    const known = await readFailures(folder, request);
    if (known.failed === 0) return { retried: 0, counts: NO_FLEET_COUNTS };
    const part = await knownPart(folder, request);
    if (job.request.kind === 'push') return pushAgain(folder, job.request, { part, known, context });
    const { differences, isDeleting, needsAll, paths } = known;
    // A whole part finds its differences again.
    const kept = needsAll ? {} : { differences };
    const failures = collectFailures(context, request, { isDeleting, ...kept });
    const deletesMax = isDeleting ? await readDeletes(folder, request) : undefined;
    const options = needsAll
      ? {
          failures,
          deletesMax,
          leavesOut: part.large.map(({ key }) => key).filter((key) => !paths.includes(key)),
        }
      : { failures, deletesMax, filesFrom: paths, leavesOut: [] };
    const counts = await run(job.request, part, options);
    await failures.save(folder);
    await folder.remove(known.largeNames);
    return { retried: known.failed, counts: onlyRetried(counts, known.failed) };
  });
}

function runKind(
  folder: FleetFolder,
  request: FleetRequest,
  part: FleetPart,
  options: RunOptions,
): Promise<FleetCounts> {
  const { failures } = options;
  if (request.kind === 'verify') return verifyPart(folder, { request, part, failures });
  if (request.kind === 'push') return pushPart(folder, { request, part, failures });
  return run(request, part, options);
}

/** Pushes the whole part, whose entries are one document. Content that it stored before is found again. */
async function pushAgain(
  folder: FleetFolder,
  request: FleetRequest,
  {
    context,
    known,
    part,
  }: { readonly context: JobContext; readonly known: KnownFailures; readonly part: FleetPart },
): Promise<{ readonly retried: number; readonly counts: FleetCounts }> {
  const failures = collectFailures(context, part);
  const counts = await pushPart(folder, { request, part, failures });
  await failures.save(folder);
  const copiedFiles = Math.max(0, known.failed - counts.failed);
  return {
    retried: known.failed,
    counts: { ...onlyChanges(counts), copiedFiles, copiedBytes: 0 },
  };
}

/** Leaves out the files that an earlier run of the part has counted. */
function onlyRetried(counts: FleetCounts, retried: number): FleetCounts {
  const { copiedFiles, failed, touchedFiles } = counts;
  return {
    ...onlyChanges(counts),
    unchangedFiles: Math.max(0, retried - copiedFiles - touchedFiles - failed),
  };
}

function onlyChanges(counts: FleetCounts): FleetCounts {
  return {
    ...counts,
    ...{ files: 0, bytes: 0, unchangedFiles: 0, skippedFiles: 0 },
    ...{ destinationFiles: 0, onlyInDestination: 0, repositories: 0, waiting: 0 },
  };
}

interface RunOptions {
  readonly failures: FailureList;
  /** For the round that deletes: the number of files that the first round has counted. */
  readonly deletesMax: number | undefined;
  /** Handles only these paths. */
  readonly filesFrom?: readonly string[];
  /** Default: the part's large objects. */
  readonly leavesOut?: readonly string[];
}

async function run(
  request: FleetRequest,
  part: FleetPart,
  { deletesMax, failures, filesFrom, leavesOut = part.large.map(({ key }) => key) }: RunOptions,
): Promise<FleetCounts> {
  const { context } = failures;
  const isDeleting = deletesMax !== undefined;
  const range = boundsOf(part.after, part.upTo);
  const filter: TreeFilterRequest = { ...request.filter, ...(filesFrom ? { filesFrom } : {}) };
  if (request.kind === 'check') {
    const checked = await checkTrees(context, { ...request, filter }, range);
    return checkCounts(checked, failures);
  }
  const outcome = await transferPart(
    context,
    { ...request, ...(isDeleting ? permissions(request, deletesMax) : {}), filter, noIndex: true },
    {
      // A sync of only some files would treat all others as extras.
      isSync: request.kind === 'sync' && !filesFrom,
      part: { range, leavesOut: new Set(leavesOut), deletes: isDeleting ? 'carryOut' : 'count' },
    },
  );
  const { refused } = outcome;
  if (refused?.code === 'tooManyDeletes') failures.add({ path: '', error: refused });
  const counts = transferCounts(outcome, failures);
  return isDeleting ? onlyChanges(counts) : counts;
}

/** Allows only the deletions that were approved for all parts: objects may vanish from the source later. */
function permissions(
  { deletableRepositories, maxDelete }: FleetRequest,
  files: number,
): Partial<SyncRequest> {
  const deletable = maxDelete ? deletableRepositories : [];
  return {
    maxDelete: { files },
    ...(deletable ? { deletableRepositories: deletable } : {}),
  };
}

export function transferCounts(
  { destinationFiles, extras, refused, summary, waiting }: PartOutcome,
  { counts: { failedBy } }: FailureList,
): FleetCounts {
  const { bytes, copiedBytes, copiedFiles, copiedInStore, deletedFiles, failed, files, requests } = summary;
  const { receivedBytes, sentBytes, skippedFiles, touchedFiles, unchangedFiles } = summary;
  return {
    ...NO_FLEET_COUNTS,
    ...{ files, bytes, copiedFiles, copiedBytes, copiedInStore, touchedFiles, unchangedFiles, skippedFiles },
    ...{ destinationFiles, deletedFiles, waiting, failedBy, sentBytes, receivedBytes },
    onlyInDestination: extras.files,
    repositories: extras.repositories,
    failed: failed + (refused?.code === 'tooManyDeletes' ? 1 : 0),
    requests: requests.total,
    dollars: requests.dollars,
  };
}

function checkCounts(checked: CheckTreesSummary, { counts }: FailureList): FleetCounts {
  const { differing, failed, files, onlyInDestination, onlyInSource, requests, same, uncertain } = checked;
  return {
    ...NO_FLEET_COUNTS,
    ...{ files, differing, onlyInSource, onlyInDestination, uncertain, failed },
    ...counts,
    unchangedFiles: same,
    receivedBytes: checked.readBytes,
    requests: requests.total,
    dollars: requests.dollars,
  };
}

const counted = v.object({ files: v.number() });

function deletesName(part: PartRequest): string {
  return `deletes/${partName(part)}.json`;
}

function writeDeletes(folder: FleetFolder, part: PartRequest, files: number): Promise<void> {
  return folder.write(deletesName(part), { files });
}

async function readDeletes(folder: FleetFolder, part: PartRequest): Promise<number> {
  return (await folder.read(deletesName(part), counted))?.files ?? 0;
}
