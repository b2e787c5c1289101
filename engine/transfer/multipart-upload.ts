/**
 * One large local file to one object, in parts, in parallel, surviving crashes.
 *
 * Order of effects: the upload is journalled as soon as the store named it, then parts are sent, then the object is completed,
 * then the journal row goes. After a crash the next call finds the row, asks the store which parts it holds, reads the file
 * again and sends only parts that are missing or different. So a file that changed in between costs its changed parts, and never
 * gives a mixture.
 *
 * An upload that broke off for a reason that may pass (the network, a stop, credentials) is kept for the next call. One that can
 * never be completed is aborted, so that nobody pays for its parts.
 */
import assert from 'node:assert';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { DrayError, type ErrorCode, toDrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import type { Budget } from '../base/budget.ts';
import type {
  MultipartStore,
  MultipartUpload,
  ObjectStore,
  PartInfo,
  PutOptions,
  PutOutcome,
} from '../remotes/object-store.ts';
import type { AdaptiveLimit } from './adaptive-limit.ts';
import { isHeldPart } from './held-parts.ts';
import type { UploadJournal } from './upload-journal.ts';

const MIB = 1024 * 1024;
/** As AWS's own tools have it; 32 parts fill the default memory. */
const PART_SIZE_BYTES = 8 * MIB;
/** S3's limit. */
const PARTS_MAX = 10_000;

/** Reasons that no later attempt would get past. */
const FINAL_CODES: ReadonlySet<ErrorCode> = new Set([
  'unsupported',
  'bucketMissing',
  'conflict',
  'damaged',
  'notFound',
]);

/** `data.reason` of an `io` error when the file is not what it was. */
const CHANGED = 'changedWhileRead';

export interface LargeUpload {
  readonly store: ObjectStore;
  readonly key: string;
  /** `sizeBytes` at least 1: a file without bytes has no parts. */
  readonly file: { readonly path: string; readonly sizeBytes: number };
  /** Default 8 MiB; raised where the file would take more than 10,000 parts. S3 wants at least 5 MiB. */
  readonly partSizeBytes?: number;
  readonly limit: AdaptiveLimit;
  /** Bytes of parts in memory at once. */
  readonly memory: Budget;
  readonly journal: UploadJournal;
  readonly condition?: NonNullable<PutOptions['condition']>;
  /** Called when every part is sent; throws if the file is not the one that was meant. The upload is then aborted. */
  readonly beforeComplete?: () => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Bytes that the store holds now, after each part. */
  readonly onProgress?: (doneBytes: number) => void;
}

export interface LargeUploadResult {
  readonly outcome: PutOutcome;
  readonly sentParts: number;
  /** Parts that an earlier attempt had sent. */
  readonly keptParts: number;
}

/**
 * @throws DrayError `io` when the file cannot be read or is shorter than said, `unsupported` when the store has no multipart
 *   uploads, `aborted`, and what the store throws.
 */
export async function uploadLarge(request: LargeUpload): Promise<LargeUploadResult> {
  const { file, key, store } = request;
  assert(file.sizeBytes > 0, 'A file without bytes has no parts.');
  const { multipart } = store;
  if (multipart === undefined) {
    throw new DrayError('unsupported', `${store.address} has no multipart uploads.`, { data: { key } });
  }
  const handle = await openFile(file.path);
  try {
    const session = await openSession(request, multipart);
    try {
      const { parts, sentParts } = await sendParts(request, { multipart, handle, session });
      const outcome = await complete(request, { multipart, session, parts });
      return { outcome, sentParts, keptParts: parts.length - sentParts };
    } catch (error) {
      if (isFinal(error)) await abandon(request, multipart, session.upload);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

/** The wanted size, or the least whole MiB that keeps the file within 10,000 parts. */
export function partSizeFor(sizeBytes: number, wantedBytes: number = PART_SIZE_BYTES): number {
  if (sizeBytes <= wantedBytes * PARTS_MAX) return wantedBytes;
  return Math.ceil(sizeBytes / PARTS_MAX / MIB) * MIB;
}

function isFinal(error: unknown): boolean {
  const { code, data } = toDrayError(error);
  return FINAL_CODES.has(code) || data.reason === CHANGED;
}

interface Session {
  readonly upload: MultipartUpload;
  readonly partSizeBytes: number;
  /** What the store holds from an earlier attempt, by part number. */
  readonly held: ReadonlyMap<number, PartInfo>;
}

/** Goes on with the journalled upload where the store still has it, or begins one. */
async function openSession(request: LargeUpload, multipart: MultipartStore): Promise<Session> {
  const { file, journal, key, signal } = request;
  const journaled = journal.load(key);
  if (journaled !== undefined) {
    const upload = { key, uploadId: journaled.uploadId };
    const parts = await partsStillHeld(multipart, upload, signal);
    const isFit = journaled.partSizeBytes * PARTS_MAX >= file.sizeBytes;
    if (parts !== undefined && isFit) {
      const held = new Map(parts.map((part) => [part.number, part]));
      return { upload, partSizeBytes: journaled.partSizeBytes, held };
    }
    if (parts === undefined) journal.forget(key);
    else await abandon(request, multipart, upload);
  }
  checkAborted(signal);
  const partSizeBytes = partSizeFor(file.sizeBytes, request.partSizeBytes);
  const uploadId = await multipart.create(key, { checksum: 'crc32', ...(signal && { signal }) });
  journal.save(key, { uploadId, partSizeBytes });
  return { upload: { key, uploadId }, partSizeBytes, held: new Map() };
}

/** Undefined when the store does not know the upload any more. */
async function partsStillHeld(
  multipart: MultipartStore,
  upload: MultipartUpload,
  signal: AbortSignal | undefined,
): Promise<readonly PartInfo[] | undefined> {
  try {
    return await multipart.listParts(upload, signal ? { signal } : {});
  } catch (error) {
    if (error instanceof DrayError && error.code === 'notFound') return undefined;
    throw error;
  }
}

interface PartsSent {
  /** In no order. */
  readonly parts: readonly PartInfo[];
  readonly sentParts: number;
}

/** Sends what the store does not hold. The first failure stops the others; all have ended when this returns or throws. */
async function sendParts(
  request: LargeUpload,
  context: { readonly multipart: MultipartStore; readonly handle: FileHandle; readonly session: Session },
): Promise<PartsSent> {
  const { file, memory } = request;
  const { handle, multipart, session } = context;
  const { partSizeBytes, upload } = session;
  const stop = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, stop.signal]) : stop.signal;
  const parts: PartInfo[] = [];
  const running = new Set<Promise<void>>();
  let failure: unknown;
  let sentParts = 0;
  let doneBytes = 0;

  const sendPart = async (number: number): Promise<void> => {
    const start = (number - 1) * partSizeBytes;
    const bytes = await readRange(handle, request, {
      start,
      end: Math.min(start + partSizeBytes, file.sizeBytes),
    });
    const sum = crc32(bytes);
    const held = session.held.get(number);
    if (held !== undefined && isHeldPart(held, bytes, sum)) {
      parts.push(held);
    } else {
      const options = { checksum: { crc32: sum }, signal };
      const send = () => multipart.uploadPart(upload, number, bytes, options);
      parts.push(await request.limit.run(send, { bytes: bytes.byteLength, signal }));
      sentParts += 1;
    }
    doneBytes += bytes.byteLength;
    request.onProgress?.(doneBytes);
  };

  const fail = (error: unknown) => {
    failure ??= error;
    stop.abort();
  };

  const partCount = Math.ceil(file.sizeBytes / partSizeBytes);
  try {
    for (let number = 1; number <= partCount; number += 1) {
      const permit = await memory.acquire(Math.min(partSizeBytes, file.sizeBytes), signal);
      const sending: Promise<void> = sendPart(number)
        .catch(fail)
        .finally(() => {
          permit.release();
          running.delete(sending);
        });
      running.add(sending);
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure;
  return { parts, sentParts };
}

async function complete(
  request: LargeUpload,
  context: {
    readonly multipart: MultipartStore;
    readonly session: Session;
    readonly parts: readonly PartInfo[];
  },
): Promise<PutOutcome> {
  const { condition, journal, key, signal } = request;
  const { multipart, parts, session } = context;
  try {
    await request.beforeComplete?.();
  } catch (error) {
    await abandon(request, multipart, session.upload);
    throw error;
  }
  checkAborted(signal);
  const ordered = parts.toSorted((left, right) => left.number - right.number);
  const options = { ...(condition && { condition }), ...(signal && { signal }) };
  const outcome = await multipart.complete(session.upload, ordered, options);
  if (outcome.written) journal.forget(key);
  else await abandon(request, multipart, session.upload);
  return outcome;
}

/** Frees the parts on the store and forgets the upload. */
async function abandon(
  request: LargeUpload,
  multipart: MultipartStore,
  upload: MultipartUpload,
): Promise<void> {
  try {
    // Not under the caller's signal: what is left behind costs money whether or not somebody still waits.
    await multipart.abort(upload);
    request.journal.forget(request.key);
  } catch {
    // The row stays, so the next call tries again; the error that led here is the one to tell.
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    throw readFailed(path, cause);
  }
}

async function readRange(
  handle: FileHandle,
  { file }: LargeUpload,
  range: { readonly start: number; readonly end: number },
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(range.end - range.start);
  for (let filled = 0; filled < bytes.byteLength; ) {
    const { bytesRead } = await handle
      .read(bytes, filled, bytes.byteLength - filled, range.start + filled)
      .catch((cause: unknown) => {
        throw readFailed(file.path, cause);
      });
    if (bytesRead === 0) {
      throw new DrayError('io', `${file.path} became shorter while it was read.`, {
        data: { path: file.path, reason: CHANGED },
      });
    }
    filled += bytesRead;
  }
  return bytes;
}

function readFailed(path: string, cause: unknown): DrayError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new DrayError('io', `Reading ${path} failed (${code}).`, { data: { path, system: code }, cause });
}
