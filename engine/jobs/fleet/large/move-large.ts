/**
 * Moves one object by several workers: they send the parts of one multipart upload. A piece of a fleet is a
 * part of the upload.
 *
 * `beginLarge` decides as `dray copy` would, by a dry run, and begins the upload. `moveLargePieces` sends
 * parts that the store does not have yet. `endLarge` completes the upload under the checksum of the whole and
 * confirms the object. It runs the upload of `dray copy`, which finds all its parts already sent.
 */
import assert from 'node:assert';
import { DrayError, toDrayError } from '../../../api/error.ts';
import type {
  FleetCounts,
  FleetRequest,
  FleetWork,
  LargeBegun,
  LargePiecesRequest,
  LargeRequest,
} from '../../../api/jobs/fleet.ts';
import { NO_FLEET_COUNTS } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import type { MultipartStore, ObjectInfo } from '../../../remotes/object-store.ts';
import { uploadInParts } from '../../../transfer/upload/multipart-upload.ts';
import type { PartsUpload } from '../../../transfer/upload/parts-upload.ts';
import { openRemoteSource } from '../../../transfer/upload/remote-source.ts';
import { sendParts } from '../../../transfer/upload/send-parts.ts';
import { abandon, openUploadSession, type SessionRequest } from '../../../transfer/upload/upload-session.ts';
import {
  allowsRepository,
  hasDescriptor,
  possibleRepositories,
  repositoryRefusal,
} from '../../places/repository-guard.ts';
import { sharesService } from '../../session/opened-remote.ts';
import { addTotals } from '../../session/traffic.ts';
import { isFileError } from '../../trees/copy-run.ts';
import { copyTree, transferPart } from '../../trees/copy-tree.ts';
import { headObject } from '../../trees/existing-objects.ts';
import { createTreeMemory } from '../../trees/move/movers.ts';
import { describeObject } from '../../trees/move/object-description.ts';
import { openTreePair, type TreePair } from '../../trees/open-pair.ts';
import type { RemoteSide } from '../../trees/sides.ts';
import { deletionPermission } from '../../trees/tree-guard.ts';
import { collectFailures, type FailureList } from '../failures.ts';
import { type FleetFolder, withFleet } from '../fleet-folder.ts';
import { knownPart } from '../fleet-part.ts';
import { LARGE_BYTES } from '../fleet-sizes.ts';
import { transferCounts } from '../run-part.ts';
import {
  forgetLarge,
  journalOf,
  type LargeRow,
  readRow,
  withNotedSums,
  writeRow,
  writeSums,
} from './large-upload.ts';

interface LargeObject {
  readonly folder: FleetFolder;
  readonly job: FleetRequest;
  readonly request: LargeRequest;
  readonly key: string;
  readonly sizeBytes: number;
  readonly pair: TreePair;
  readonly source: RemoteSide;
  readonly destination: RemoteSide;
  readonly failures: FailureList;
  readonly signal: AbortSignal;
}

export function beginLarge(context: JobContext, work: FleetWork, request: LargeRequest): Promise<LargeBegun> {
  return withLarge(context, work, request, async (large) => {
    // Replaces the failures that an earlier attempt left.
    await large.failures.save(large.folder);
    const counts = { ...NO_FLEET_COUNTS, files: 1, bytes: large.sizeBytes };
    const begun = await orFailed(large, counts, () => begin(large, counts));
    return 'pieces' in begun ? begun : { pieces: 0, counts: begun };
  });
}

async function begin(large: LargeObject, counts: FleetCounts): Promise<LargeBegun> {
  const info = await headSource(large);
  // The object was deleted since the listing: a copy that began now would not see it.
  if (!info) return { pieces: 0, counts: NO_FLEET_COUNTS };
  const { destination, job, source } = large;
  const { multipart } = destination.store;
  const isWhole =
    info.sizeBytes < (job.largeBytes ?? LARGE_BYTES) ||
    info.etag === '' ||
    sharesService(source.store, destination.store);
  if (isWhole || !multipart || !(await differs(large))) return { pieces: 0, counts: await moveWhole(large) };
  await refuseRepository(large);
  const known = await readRow(large.folder, large.request);
  const journal = journalOf(known);
  const session = await openUploadSession(sessionRequest(large, { info, journal }), multipart);
  const row = rowOf(journal.current(), info);
  if (row.uploadId !== known?.uploadId) {
    await forgetLarge(large.folder, large.request);
    await writeRow(large.folder, large.request, row);
  }
  const pieces = Math.ceil(info.sizeBytes / session.partSizeBytes);
  return { pieces, counts: { ...counts, bytes: info.sizeBytes, requests: requestsOf(large) } };
}

/** @throws `conflict` where a repository's object would be replaced */
async function refuseRepository({ destination, job, key, signal }: LargeObject): Promise<void> {
  for (const folder of possibleRepositories(key)) {
    const name = folder.split('/').at(-1)!;
    if (allowsRepository(deletionPermission(job), name)) continue;
    if (await hasDescriptor(destination.store, folder, signal)) throw repositoryRefusal(name);
  }
}

function rowOf(journaled: ReturnType<ReturnType<typeof journalOf>['current']>, info: ObjectInfo): LargeRow {
  assert(journaled?.token !== undefined, 'A session has a row.');
  const { partSizeBytes, token, uploadId } = journaled;
  return { uploadId, partSizeBytes, token, sizeBytes: info.sizeBytes };
}

/**
 * Parts that the store has already are not sent again. If a piece fails, the others of its object do nothing
 * more, and `endLarge` counts the failure, once.
 */
export function moveLargePieces(
  context: JobContext,
  work: FleetWork,
  request: LargePiecesRequest,
): Promise<FleetCounts> {
  return withLarge(context, work, request, async (large) => {
    if (await large.failures.savedCode(large.folder)) return NO_FLEET_COUNTS;
    const counts = await orFailed(large, NO_FLEET_COUNTS, () => movePieces(large, request));
    return { ...counts, failed: 0, failedBy: {} };
  });
}

async function movePieces(large: LargeObject, request: LargePiecesRequest): Promise<FleetCounts> {
  const upload = await openUpload(large);
  const { multipart, row } = upload;
  const session = await openUploadSession(sessionRequest(large, upload), multipart);
  if (session.upload.uploadId !== row.uploadId) {
    await abandon({ journal: undefined, key: large.key }, multipart, session.upload);
    throw changedMeanwhile(large);
  }
  const sent = await sendParts(upload, {
    multipart,
    session,
    checksEtags: false,
    only: { first: request.from + 1, last: request.to },
  });
  const parts = sent.parts.flatMap(({ info: { etag, number }, sum }) =>
    'crc64nvme' in sum ? [{ number, etag, crc64nvme: sum.crc64nvme }] : [],
  );
  await writeSums(large.folder, request, parts);
  return moved(large, sent.sentBytes);
}

/** Sends the parts that are still missing, if any. */
export function endLarge(context: JobContext, work: FleetWork, request: LargeRequest): Promise<FleetCounts> {
  return withLarge(context, work, request, async (large) => {
    const code = await large.failures.savedCode(large.folder);
    if (code) return { ...NO_FLEET_COUNTS, failed: 1, failedBy: { [code]: 1 } };
    return orFailed(large, NO_FLEET_COUNTS, () => end(large));
  });
}

async function end(large: LargeObject): Promise<FleetCounts> {
  // An earlier call completed the upload and was killed before it could report that.
  if (!(await differs(large))) return { ...moved(large, 0), copiedFiles: 1, copiedBytes: large.sizeBytes };
  const upload = await openUpload(large);
  await checkUpload(large, upload);
  const { sentBytes } = await uploadInParts(upload);
  return { ...moved(large, sentBytes), copiedFiles: 1, copiedBytes: upload.source.sizeBytes };
}

/** Without this, one worker would send the whole object from its beginning. */
async function checkUpload(large: LargeObject, { multipart, row }: SharedUpload): Promise<void> {
  const { key, signal } = large;
  try {
    await multipart.listParts({ key, uploadId: row.uploadId }, { signal });
  } catch (error) {
    if (toDrayError(error).code === 'notFound') throw changedMeanwhile(large);
    throw error;
  }
}

function moved(large: LargeObject, sentBytes: number): FleetCounts {
  return { ...NO_FLEET_COUNTS, sentBytes, receivedBytes: sentBytes, requests: requestsOf(large) };
}

function requestsOf({ pair }: LargeObject): number {
  return addTotals(pair.meters).total;
}

async function withLarge<T>(
  context: JobContext,
  work: FleetWork,
  request: LargeRequest,
  step: (large: LargeObject) => Promise<T>,
): Promise<T> {
  await loadCrc64();
  return withFleet(context, work, async (folder, { request: job }) => {
    const { large: objects } = await knownPart(folder, request);
    const { key, sizeBytes } = objects[request.large] ?? {};
    if (key === undefined || sizeBytes === undefined)
      throw new DrayError('notFound', `The part has no large object ${request.large}.`);
    const failures = collectFailures(context, request, { large: request.large });
    const pair = await openTreePair(context, job);
    try {
      const { destination, source } = pair;
      assert(source.kind === 'remote' && destination.kind === 'remote', 'A fleet works between stores.');
      const sides = { source, destination, pair };
      const { signal } = context;
      return await step({ folder, job, request, key, sizeBytes, failures, signal, ...sides });
    } finally {
      await pair.close();
    }
  });
}

/** An error that concerns this object alone is noted, and the fleet continues. */
async function orFailed<T>(
  large: LargeObject,
  counts: FleetCounts,
  step: () => Promise<T>,
): Promise<T | FleetCounts> {
  let error: DrayError;
  try {
    return await step();
  } catch (thrown) {
    error = toDrayError(thrown);
    if (!isFileError(error) || error.retry !== 'no') throw error;
  }
  const { failures, folder, key } = large;
  failures.add({ path: key, error });
  await failures.save(folder);
  await freeParts(large);
  return { ...counts, failed: 1, failedBy: failures.counts.failedBy };
}

/** The upload will not be completed, and its stored parts cost money. */
async function freeParts({ destination, folder, key, request }: LargeObject): Promise<void> {
  const { multipart } = destination.store;
  const row = await readRow(folder, request);
  if (row && multipart)
    await abandon({ journal: undefined, key }, multipart, { key, uploadId: row.uploadId });
}

function headSource({ key, signal, source }: LargeObject): Promise<ObjectInfo | undefined> {
  return headObject(source, key, signal);
}

function onlyThis({ job, key }: LargeObject): FleetRequest & { readonly noIndex: true } {
  return { ...job, filter: { ...job.filter, filesFrom: [key] }, noIndex: true };
}

/** Whether `dray copy` would copy it. */
async function differs(large: LargeObject): Promise<boolean> {
  const quiet = { ...large.failures.context, emit: () => {} };
  // A dry run would warn of a repository, and `begin` refuses it.
  const request = { ...onlyThis(large), delta: false, dryRun: true, allowRepositories: true };
  return (await copyTree(quiet, request)).copiedFiles === 1;
}

/** One worker handles the object: it is equal, the store copies it, or it is no longer large. */
async function moveWhole(large: LargeObject): Promise<FleetCounts> {
  const part = { range: {}, leavesOut: new Set<string>(), deletes: 'count' } as const;
  const outcome = await transferPart(large.failures.context, onlyThis(large), { isSync: false, part });
  await large.failures.save(large.folder);
  return transferCounts(outcome, large.failures);
}

interface SharedUpload extends PartsUpload {
  readonly multipart: MultipartStore;
  readonly info: ObjectInfo;
  readonly row: LargeRow;
}

/** @throws `io` unless the source is the one with which the upload began */
async function openUpload(large: LargeObject): Promise<SharedUpload> {
  const { destination, folder, job, key, request, signal, source } = large;
  const [info, row] = [await headSource(large), await readRow(folder, request)];
  const store = await withNotedSums(destination.store, folder, request);
  const { multipart } = store;
  if (!info || !row || !multipart || !row.token.endsWith(` ${info.etag}`)) throw changedMeanwhile(large);
  return {
    multipart,
    info,
    row,
    store,
    key,
    source: openRemoteSource({ store: source.store, key, info, limit: source.limit }),
    description: describeObject(job, info),
    checksum: 'crc64nvme',
    limit: destination.limit,
    memory: createTreeMemory(job),
    journal: journalOf(row),
    partSizeBytes: row.partSizeBytes,
    signal,
  };
}

function sessionRequest(
  { job, key, signal }: LargeObject,
  { info, journal }: { readonly info: ObjectInfo; readonly journal: SessionRequest['journal'] },
): SessionRequest {
  return {
    key,
    description: describeObject(job, info),
    journal,
    checksum: 'crc64nvme',
    sizeBytes: info.sizeBytes,
    token: info.etag,
    // A part without a checksum would have to be downloaded.
    isComparable: false,
    partSizeBytes: job.partSizeBytes,
    signal,
  };
}

/** The parts that others sent are then useless. */
function changedMeanwhile({ key }: LargeObject): DrayError {
  const message = `${key} changed while several workers moved it, or its upload was aborted. Try it again.`;
  return new DrayError('io', message, { data: { path: key, reason: 'changedWhileRead' } });
}
