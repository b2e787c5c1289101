/**
 * Uploads one large object in concurrent parts, from a local file or another store, and survives crashes.
 *
 * Order of effects: the upload is journaled as soon as the store has named it, then parts are sent, then the
 * object is completed under the checksum of the whole, then confirmed, then the journal row is removed. After
 * a crash the next call finds the row and asks the store for its parts. When the source is unchanged (by its
 * token), they count as sent; otherwise they are compared with the current file, and only missing or
 * different parts are sent. So a file that changed in between never produces a mixture.
 *
 * An upload that was interrupted for a temporary reason (the network, an abort, credentials) is kept for the
 * next call. One that can never be completed is aborted, so that nobody pays for its parts.
 */
import assert from 'node:assert';
import { DrayError, type ErrorCode, toDrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import type { MultipartStore, ObjectChecksums, ObjectStore, PutOutcome } from '../../remotes/object-store.ts';
import { joinSums, type PartSum } from '../compare/part-sums.ts';
import { confirmObject } from './confirm-object.ts';
import { canBeParts, DELTA_BLOCK_MAX_BYTES } from './part-size.ts';
import type { PartsUpload, UploadedObject } from './parts-upload.ts';
import { type PartsAtStore, sendParts } from './send-parts.ts';
import {
  abandon,
  openUploadSession,
  type SessionRequest,
  type UploadMode,
  type UploadSession,
} from './upload-session.ts';

/** Errors that a later attempt would repeat. */
const FINAL_CODES: ReadonlySet<ErrorCode> = new Set([
  'unsupported',
  'bucketMissing',
  'conflict',
  'damaged',
  'notFound',
]);

/** `data.reason` of an `io` error when the source has changed. */
const FINAL_REASONS: ReadonlySet<unknown> = new Set(['changedWhileRead', 'vanished']);

/**
 * @throws DrayError `io` when the source cannot be read or has changed, `unsupported` when the store has no
 * multipart uploads, `damaged` when the object was damaged during the upload, `aborted`, and the store's
 * errors.
 */
export async function uploadInParts(request: PartsUpload): Promise<UploadedObject> {
  const { key, source, store } = request;
  assert(source.sizeBytes > 0, 'An empty object has no parts.');
  const { multipart } = store;
  if (multipart === undefined) {
    throw new DrayError('unsupported', `${store.address} has no multipart uploads.`, { data: { key } });
  }
  if (request.checksum === 'crc64nvme') await loadCrc64();
  const attempt = { copiedParts: 0, doneBytes: 0 };
  try {
    return await uploadOnce(request, multipart, attempt);
  } catch (error) {
    // Copied parts had other content than assumed. The next attempt copies nothing.
    if (attempt.copiedParts === 0 || toDrayError(error).code !== 'damaged') throw error;
    request.onProgress?.(-attempt.doneBytes);
    const { previous: _, ...whole } = request;
    return await uploadOnce(whole, multipart, attempt);
  }
}

async function uploadOnce(
  request: PartsUpload,
  multipart: MultipartStore,
  attempt: { copiedParts: number; doneBytes: number },
): Promise<UploadedObject> {
  const session = await openUploadSession(sessionRequest(request, multipart), multipart);
  let isSent = false;
  try {
    const known = keepsSums.get(request.store)?.[session.mode];
    const checksEtags = known === false || (known === undefined && session.mode === 'plain');
    const sent = await sendParts(request, { multipart, session, checksEtags });
    attempt.copiedParts = sent.copiedParts;
    attempt.doneBytes = request.source.sizeBytes;
    isSent = true;
    await request.beforeComplete?.();
    await request.source.checkUnchanged();
    return await finish(request, { multipart, session, sent });
  } catch (error) {
    if (isFinal(error, isSent)) await abandon(request, multipart, session.upload);
    throw error;
  }
}

function sessionRequest(request: PartsUpload, multipart: MultipartStore): SessionRequest {
  const { checksum, description, journal, key, partSizeBytes, previous, signal, source } = request;
  const { sizeBytes, token } = source;
  const isDelta =
    previous !== undefined &&
    previous.blockBytes <= DELTA_BLOCK_MAX_BYTES &&
    canBeParts(previous.blockBytes, sizeBytes, multipart);
  return {
    key,
    description,
    journal,
    checksum,
    sizeBytes,
    token,
    isComparable: source.limit === undefined,
    // The same part size as the replaced object, so that unchanged parts can be copied.
    copiesPartsOf: isDelta ? previous.blockBytes : undefined,
    partSizeBytes,
    signal,
  };
}

/** A read may fail for a temporary reason; the final check of the source proves that it has changed. */
function isFinal(error: unknown, isSent: boolean): boolean {
  const { code, data } = toDrayError(error);
  return FINAL_CODES.has(code) || (code === 'io' && (isSent || FINAL_REASONS.has(data.reason)));
}

/** Whether stores are known to keep the checksum of an object uploaded in parts, in either mode. */
const keepsSums = new WeakMap<ObjectStore, Partial<Record<UploadMode, boolean>>>();

interface Sent {
  readonly multipart: MultipartStore;
  readonly session: UploadSession;
  readonly sent: PartsAtStore;
}

async function finish(request: PartsUpload, context: Sent): Promise<UploadedObject> {
  const { journal, key, signal, source, store } = request;
  const { multipart, sent, session } = context;
  const sum = joinSums(sent.parts);
  const outcome = await complete(request, context, sum);
  const { parts, ...counts } = sent;
  const blocks = {
    blockBytes: session.partSizeBytes,
    sums: parts.flatMap((part) => crc64Of(part.sum) ?? []),
  };
  const crc64nvme = crc64Of(sum);
  const result = { outcome, ...counts, blocks, ...(crc64nvme === undefined ? {} : { crc64nvme }) };
  if (!outcome.written) {
    await abandon(request, multipart, session.upload);
    return { ...result, etag: '' };
  }
  if (multipart.confirmsWhole && isConfirmed(outcome.checksums, crc64nvme)) {
    journal.forget(key);
    return { ...result, etag: outcome.etag, confirmedBy: 'checksum' };
  }
  const { by, info } = await confirmObject(store, {
    key,
    sum,
    etag: outcome.etag,
    sizeBytes: source.sizeBytes,
    parts: parts.map(({ info: { etag }, isMd5 }) => ({ etag, ...(isMd5 === undefined ? {} : { isMd5 }) })),
    signal,
  });
  keepsSums.set(store, { ...keepsSums.get(store), [session.mode]: by === 'checksum' });
  journal.forget(key);
  return { ...result, etag: info.etag, confirmedBy: by };
}

async function complete(
  { condition, key, signal }: PartsUpload,
  { multipart, sent, session }: Sent,
  checksum: PartSum,
): Promise<PutOutcome> {
  checkAborted(signal);
  const options = {
    ...(session.mode === 'summed' && { checksum }),
    ...(condition && { condition }),
    ...(signal && { signal }),
  };
  const parts = sent.parts.map((part) => part.info);
  try {
    return await multipart.complete(session.upload, parts, options);
  } catch (cause) {
    // The store accepted each part under its own checksum, so the transfer is not the cause: the next attempt
    // starts again.
    if (!(cause instanceof DrayError) || cause.code !== 'checksumRefused') throw cause;
    const message = `The parts of ${key} do not form the sent object: the store refused the checksum of the whole.`;
    throw new DrayError('damaged', message, { data: { key }, cause });
  }
}

function isConfirmed(kept: ObjectChecksums | undefined, crc64nvme: bigint | undefined): boolean {
  return kept?.covers === 'whole' && kept.crc64nvme !== undefined && kept.crc64nvme === crc64nvme;
}

function crc64Of(sum: PartSum): bigint | undefined {
  return 'crc64nvme' in sum ? sum.crc64nvme : undefined;
}
