/** Copies inside the store: one request up to 5 GiB, in parts above. */
import pLimit from 'p-limit';
import type { CallOptions, PartInfo, PutOutcome } from '../object-store.ts';
import { isAbsentKey, translateFailure } from './s3-errors.ts';
import { unquote } from './s3-xml.ts';
import { callOf, type SdkCaller } from './sdk-caller.ts';
import { copySource, createSdkMultipart, sizeOf } from './sdk-multipart.ts';

/** S3's limit of one CopyObject. */
const COPY_MAX_BYTES = 5 * 1024 ** 3;
/** 10,000 parts of it hold 5 TiB, the largest object that S3 keeps. */
const COPY_PART_BYTES = 512 * 1024 ** 2;
const COPY_PARTS_IN_FLIGHT = 8;

export async function copyInStore(
  sdk: SdkCaller,
  from: string,
  to: string,
  options: CallOptions,
): Promise<PutOutcome> {
  const call = callOf(sdk, 'COPY', from);
  const command = new sdk.module.CopyObjectCommand({ ...sdk.object(to), CopySource: copySource(sdk, from) });
  const outcome = await sdk.attempt(call, command, options.signal);
  if (!outcome.failure) return { written: true, etag: unquote(outcome.output.CopyObjectResult?.ETag ?? '') };
  const { failure } = outcome;
  if (failure.status === 400 && !isAbsentKey(failure)) {
    const sizeBytes = await sizeOf(sdk, from, options.signal);
    if (sizeBytes > COPY_MAX_BYTES)
      return copyInParts(sdk, { from, to, sizeBytes, partBytes: COPY_PART_BYTES }, options);
  }
  throw translateFailure(failure, call, sdk.connection.place);
}

/** For objects above S3's limit of one copy. Frees the parts when it fails. */
export async function copyInParts(
  sdk: SdkCaller,
  what: {
    readonly from: string;
    readonly to: string;
    readonly sizeBytes: number;
    readonly partBytes: number;
  },
  options: CallOptions,
): Promise<PutOutcome> {
  const { from, to, sizeBytes, partBytes } = what;
  const multipart = createSdkMultipart(sdk);
  const upload = { key: to, uploadId: await multipart.create(to, options) };
  const limit = pLimit(COPY_PARTS_IN_FLIGHT);
  try {
    const copies: Promise<PartInfo>[] = [];
    for (let start = 0; start < sizeBytes; start += partBytes) {
      const range = { start, end: Math.min(start + partBytes, sizeBytes) };
      const number = copies.length + 1;
      copies.push(limit(() => multipart.uploadPartCopy(upload, number, { key: from, range }, options)));
    }
    return await multipart.complete(upload, await Promise.all(copies), options);
  } catch (error) {
    limit.clearQueue();
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
}
