/**
 * Copies inside one service, without transferring bytes. The copy is confirmed by the answer's etag or
 * checksum where those are the source's, otherwise by a HEAD.
 */
import { DrayError, type ErrorCode, toDrayError } from '../../api/error.ts';
import type {
  CopySource,
  ObjectChecksums,
  ObjectDescription,
  ObjectInfo,
  ObjectStore,
  PutOutcome,
  RemoteKey,
} from '../../remotes/object-store.ts';
import type { UploadJournal } from '../upload/upload-journal.ts';
import { copyInParts } from './copy-parts.ts';

/** S3's limit for one copy request. */
export const COPY_ONCE_BYTES = 5 * 1024 ** 3;

export interface StoreCopy {
  readonly from: ObjectStore;
  readonly fromKey: RemoteKey;
  /** The same store, or one of the same service (`place.service`). */
  readonly to: ObjectStore;
  readonly toKey: RemoteKey;
  /**
   * The expected state of the source. Without `checksums`, a copy whose etag proves nothing is confirmed by
   * its size.
   */
  readonly info: Pick<ObjectInfo, 'etag' | 'sizeBytes' | 'checksums'>;
  /** Replaces the source's. */
  readonly description?: ObjectDescription;
  readonly storageClass?: string;
  /** With it, an interrupted copy in parts is resumed. */
  readonly journal?: UploadJournal;
  /** Default 5 GiB: larger objects are copied in parts. */
  readonly copyOnceBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface StoreCopied {
  readonly outcome: PutOutcome;
  /** The etag of the confirmed object; '' where the store returns none. */
  readonly etag: string;
}

/** The store refuses to copy, at least this object. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['accessDenied', 'unsupported']);

/**
 * Undefined when the store refuses to copy, so that the caller transfers the bytes.
 * @throws DrayError `io` with `data.reason` `changedWhileRead` or `vanished` when the source changed,
 * `damaged` when the copy is not the source, and the store's errors.
 */
export async function copyInStore(request: StoreCopy): Promise<StoreCopied | undefined> {
  const { copyOnceBytes = COPY_ONCE_BYTES, info } = request;
  const isLarge = info.sizeBytes > copyOnceBytes && request.to.multipart !== undefined;
  try {
    const outcome = isLarge
      ? await copyInParts({ ...request, source: copySource(request) })
      : await copyOnce(request);
    return { outcome, etag: await confirmedEtag(request, outcome) };
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw asSourceError(request, error);
  }
}

function copyOnce(request: StoreCopy): Promise<PutOutcome> {
  const { description, info, signal, storageClass, to, toKey } = request;
  return to.copy(copySource(request), toKey, {
    ...(info.etag === '' ? {} : { ifMatch: info.etag }),
    sizeBytes: info.sizeBytes,
    ...(description && { description }),
    ...(storageClass === undefined ? {} : { storageClass }),
    ...(signal && { signal }),
  });
}

function copySource({ from, fromKey, to }: StoreCopy): CopySource {
  if (from === to || from.place === undefined) return fromKey;
  const { bucket, keyPrefix } = from.place;
  return { bucket, key: keyPrefix + fromKey };
}

async function confirmedEtag({ info, signal, to, toKey }: StoreCopy, outcome: PutOutcome): Promise<string> {
  const written = outcome.written ? outcome : undefined;
  const bySum = sameSum(info.checksums, written?.checksums);
  if (bySum === false) throw damaged(toKey, 'its checksum differs');
  if (written && written.etag !== '' && (bySum === true || written.etag === info.etag)) return written.etag;
  const found = await to.head(toKey, { checksums: true, ...(signal && { signal }) });
  if (found === undefined) throw damaged(toKey, 'it does not exist');
  if (found.sizeBytes !== info.sizeBytes)
    throw damaged(toKey, `it has ${found.sizeBytes} bytes instead of ${info.sizeBytes}`);
  if (sameSum(info.checksums, found.checksums) === false) throw damaged(toKey, 'its checksum differs');
  return found.etag;
}

/** Undefined when they have no common kind that covers the whole. */
function sameSum(left: ObjectChecksums | undefined, right: ObjectChecksums | undefined): boolean | undefined {
  if (left?.covers !== 'whole' || right?.covers !== 'whole') return undefined;
  for (const kind of ['sha256', 'crc64nvme', 'crc32'] as const) {
    if (left[kind] !== undefined && right[kind] !== undefined) return left[kind] === right[kind];
  }
  return undefined;
}

/** Some servers call a refused copy, such as one between separate buckets, an invalid request. */
function isRefusal(error: unknown): boolean {
  // An archived object is refused for its own state.
  if (!(error instanceof DrayError) || error.data.reason === 'archived') return false;
  return REFUSALS.has(error.code) || (error.code === 'remoteFailed' && error.retry === 'no');
}

/** The request's conditions apply to the source. */
function asSourceError({ fromKey }: StoreCopy, cause: unknown): DrayError {
  const error = toDrayError(cause);
  if (error.code !== 'conflict' && error.code !== 'notFound') return error;
  const isGone = error.code === 'notFound';
  const message = isGone
    ? `${fromKey} no longer exists.`
    : `${fromKey} changed while it was copied. Copy it again when nothing writes to it.`;
  const reason = isGone ? 'vanished' : 'changedWhileRead';
  return new DrayError('io', message, { data: { path: fromKey, reason }, cause });
}

function damaged(key: RemoteKey, why: string): DrayError {
  return new DrayError('damaged', `${key} is a damaged copy: ${why}. Do not use it; run the command again.`, {
    data: { key },
  });
}
