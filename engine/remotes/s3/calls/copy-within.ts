/**
 * Copies inside the store: by one request, or in parts above S3's limit.
 */

import pLimit from 'p-limit';
import { DrayError } from '../../../api/error.ts';
import { keptDescription } from '../../kept-description.ts';
import type {
  CallOptions,
  CopyOptions,
  CopySource,
  MultipartStore,
  ObjectDescription,
  ObjectInfo,
  PartInfo,
  PutOptions,
  PutOutcome,
} from '../../object-store.ts';
import { isAbsentKey, type S3Failure, translateFailure, unwrittenOr } from '../answers/s3-errors.ts';
import type { S3Place } from '../s3-options.ts';
import type { FullPlace } from './copy-source.ts';

/** S3's limit of one CopyObject. */
const COPY_MAX_BYTES = 5 * 1024 ** 3;
/** 10,000 parts of it hold 5 TiB, the largest object that S3 keeps. */
const COPY_PART_BYTES = 512 * 1024 ** 2;
const COPY_PARTS_IN_FLIGHT = 8;

export type CopyAttempt =
  | { readonly outcome: PutOutcome; readonly failure?: never }
  | { readonly failure: S3Failure };

export interface Copier {
  readonly place: S3Place;
  readonly multipart: MultipartStore;
  /** One CopyObject. */
  copyOnce(): Promise<CopyAttempt>;
  headSource(options: CallOptions): Promise<ObjectInfo | undefined>;
}

export async function copyWithin(
  copier: Copier,
  what: { readonly from: CopySource; readonly to: string; readonly fullSource: FullPlace },
  options: CopyOptions,
): Promise<PutOutcome> {
  const inParts = async () => copyLarge(copier, what, options);
  if ((options.sizeBytes ?? 0) > COPY_MAX_BYTES) return inParts();
  const attempt = await copier.copyOnce();
  if (!attempt.failure) return attempt.outcome;
  const { failure } = attempt;
  const call = { operation: 'COPY', key: what.fullSource.key };
  if (failure.status === 400 && !isAbsentKey(failure) && options.sizeBytes === undefined) {
    const info = await copier.headSource(options);
    if ((info?.sizeBytes ?? 0) > COPY_MAX_BYTES) return inParts();
  }
  // A 404 concerns the source. For If-Match on a missing target S3 answers with the target's key.
  const { condition, ifMatch } = options;
  if (!condition || failure.status !== 412) throw translateFailure(failure, call, copier.place);
  if (ifMatch !== undefined && (await copier.headSource(options))?.etag !== ifMatch) {
    throw translateFailure(failure, call, copier.place);
  }
  return unwrittenOr(failure, options, call, copier.place);
}

async function copyLarge(
  copier: Copier,
  what: { readonly from: CopySource; readonly to: string; readonly fullSource: FullPlace },
  options: CopyOptions,
): Promise<PutOutcome> {
  const { bucket, key } = what.fullSource;
  const info = await copier.headSource(options);
  if (!info) {
    throw new DrayError('notFound', `s3://${bucket}/${key} cannot be copied: it does not exist.`, {
      data: { bucket, key },
    });
  }
  const ifMatch = options.ifMatch ?? info.etag;
  const { condition, signal, storageClass } = options;
  return copyInS3Parts(
    copier.multipart,
    { from: what.from, to: what.to, sizeBytes: info.sizeBytes, partBytes: COPY_PART_BYTES },
    {
      // Parts do not carry the source's description, so the upload gets it.
      description: {
        ...(options.description ?? keptDescription(info)),
        ...(storageClass ? { storageClass } : {}),
      },
      ...(ifMatch === '' ? {} : { ifMatch }),
      ...(condition ? { condition } : {}),
      ...(signal ? { signal } : {}),
    },
  );
}

/** For objects above S3's limit of one copy. Frees the parts when it fails. */
export async function copyInS3Parts(
  multipart: MultipartStore,
  what: {
    readonly from: CopySource;
    readonly to: string;
    readonly sizeBytes: number;
    readonly partBytes: number;
  },
  options: CallOptions & {
    readonly description?: ObjectDescription;
    readonly ifMatch?: string;
    readonly condition?: NonNullable<PutOptions['condition']>;
  },
): Promise<PutOutcome> {
  const { from, to, sizeBytes, partBytes } = what;
  const call: CallOptions = options.signal ? { signal: options.signal } : {};
  const pinned = options.ifMatch === undefined ? {} : { ifMatch: options.ifMatch };
  const uploadId = await multipart.create(to, { ...options.description, ...call });
  const upload = { key: to, uploadId };
  const limit = pLimit(COPY_PARTS_IN_FLIGHT);
  try {
    const copies: Promise<PartInfo>[] = [];
    for (let start = 0; start < sizeBytes; start += partBytes) {
      const range = { start, end: Math.min(start + partBytes, sizeBytes) };
      const number = copies.length + 1;
      const source = { key: from, range, ...pinned };
      copies.push(limit(() => multipart.uploadPartCopy(upload, number, source, call)));
    }
    const parts = await Promise.all(copies);
    const outcome = await multipart.complete(upload, parts, {
      ...call,
      ...(options.condition ? { condition: options.condition } : {}),
    });
    if (!outcome.written) await multipart.abort(upload);
    return outcome;
  } catch (error) {
    limit.clearQueue();
    // Without the signal: it may be the reason.
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
}
