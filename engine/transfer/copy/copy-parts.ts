/**
 * Copies an object above the limit of one copy request inside the store, in parts. Resumes after a crash if
 * it has a journal.
 */

import pLimit from 'p-limit';
import { toDrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { keptDescription } from '../../remotes/kept-description.ts';
import type {
  CopySource,
  MultipartStore,
  ObjectDescription,
  ObjectInfo,
  ObjectStore,
  PartInfo,
  PutOutcome,
  RemoteKey,
} from '../../remotes/object-store.ts';
import { partSizeFor } from '../upload/part-size.ts';
import type { UploadJournal } from '../upload/upload-journal.ts';
import { abandon, openUploadSession, type UploadSession } from '../upload/upload-session.ts';

/** Large, since each part is a paid request, and small enough to be answered within seconds. */
const COPY_PART_BYTES = 256 * 1024 * 1024;
const COPIES_AT_ONCE = 8;

export interface PartsCopy {
  readonly from: ObjectStore;
  readonly fromKey: RemoteKey;
  readonly source: CopySource;
  /** A store with multipart uploads. */
  readonly to: ObjectStore;
  readonly toKey: RemoteKey;
  readonly info: Pick<ObjectInfo, 'etag' | 'sizeBytes'>;
  readonly description?: ObjectDescription;
  readonly storageClass?: string;
  readonly journal?: UploadJournal;
  readonly signal?: AbortSignal | undefined;
  /** Default 256 MiB, or what 10,000 parts need. */
  readonly partSizeBytes?: number;
}

export async function copyInParts(request: PartsCopy): Promise<PutOutcome> {
  const { info, journal, signal, to, toKey } = request;
  const multipart = to.multipart!;
  const target = {
    key: toKey,
    journal,
    signal,
    description: await describe(request),
    checksum: 'crc64nvme' as const,
    sizeBytes: info.sizeBytes,
    token: info.etag,
    isComparable: false,
    copiesPartsOf: partSizeFor(info.sizeBytes, request.partSizeBytes ?? COPY_PART_BYTES),
  };
  const session = await openUploadSession(target, multipart);
  try {
    const parts = await copyRanges(request, multipart, session);
    checkAborted(signal);
    const outcome = await multipart.complete(session.upload, parts, signal ? { signal } : {});
    journal?.forget(toKey);
    return outcome;
  } catch (error) {
    // With a journal the next attempt resumes from here, unless the upload is useless.
    const { code, retry } = toDrayError(error);
    const mayPass = retry !== 'no' || code === 'aborted';
    if (journal === undefined || !mayPass) await abandon(target, multipart, session.upload);
    throw error;
  }
}

/** Parts carry no description, so the source's is set again. A copy gets the default storage class. */
async function describe(request: PartsCopy): Promise<ObjectDescription> {
  const { description, from, fromKey, info, signal, storageClass } = request;
  const wanted = storageClass === undefined ? {} : { storageClass };
  if (description) return { ...description, ...wanted };
  const found = await from.head(fromKey, signal ? { signal } : {});
  // The description of another object is useless: the copy of its parts will be refused.
  if (found === undefined || found.etag !== info.etag) return wanted;
  return { ...keptDescription(found), ...wanted };
}

/** The first failure stops the others; all have ended when this returns or throws. */
async function copyRanges(
  { info, source, ...request }: PartsCopy,
  multipart: MultipartStore,
  { held, isVouched, partSizeBytes, upload }: UploadSession,
): Promise<readonly PartInfo[]> {
  const stop = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, stop.signal]) : stop.signal;
  const limit = pLimit(COPIES_AT_ONCE);
  const pinned = info.etag === '' ? {} : { ifMatch: info.etag };
  const copyPart = async (number: number): Promise<PartInfo> => {
    const start = (number - 1) * partSizeBytes;
    const range = { start, end: Math.min(start + partSizeBytes, info.sizeBytes) };
    const present = held.get(number);
    if (isVouched && present?.sizeBytes === range.end - range.start) return present;
    checkAborted(signal);
    return multipart.uploadPartCopy(upload, number, { key: source, range, ...pinned }, { signal });
  };
  const numbers = Array.from({ length: Math.ceil(info.sizeBytes / partSizeBytes) }, (_, at) => at + 1);
  let failure: { readonly error: unknown } | undefined;
  const parts = await limit.map(numbers, (number) =>
    copyPart(number).catch((error: unknown) => {
      failure ??= { error };
      stop.abort();
      return undefined;
    }),
  );
  if (failure !== undefined) throw failure.error;
  return parts
    .filter((part) => part !== undefined)
    .map(({ etag, number, sizeBytes }) => ({ etag, number, sizeBytes }));
}
