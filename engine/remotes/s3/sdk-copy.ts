/** Copies inside the store: one request up to 5 GiB, in parts above. */
import type { StorageClass } from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import type {
  CallOptions,
  CopyOptions,
  CopySource,
  ObjectDescription,
  PartInfo,
  PutOutcome,
} from '../object-store.ts';
import { copySourceOf, fullPlaceOf } from './s3-copy-source.ts';
import { isAbsentKey, translateFailure, unwrittenOr } from './s3-errors.ts';
import type { SdkCaller } from './sdk-caller.ts';
import { conditionFields, descriptionFields, writtenAs } from './sdk-fields.ts';
import { createSdkMultipart, sizeOf } from './sdk-multipart.ts';

/** S3's limit of one CopyObject. */
const COPY_MAX_BYTES = 5 * 1024 ** 3;
/** 10,000 parts of it hold 5 TiB, the largest object that S3 keeps. */
const COPY_PART_BYTES = 512 * 1024 ** 2;
const COPY_PARTS_IN_FLIGHT = 8;

export async function copyInStore(
  sdk: SdkCaller,
  from: CopySource,
  to: string,
  options: CopyOptions,
): Promise<PutOutcome> {
  const source = fullPlaceOf(sdk.connection.place, from);
  const call = { operation: 'COPY', key: source.key };
  const { description, storageClass, ifMatch } = options;
  const command = new sdk.module.CopyObjectCommand({
    ...sdk.object(to),
    CopySource: copySourceOf(source),
    ...(description ? { MetadataDirective: 'REPLACE', ...descriptionFields(description) } : {}),
    ...(storageClass === undefined ? {} : { StorageClass: storageClass as StorageClass }),
    ...(ifMatch === undefined ? {} : { CopySourceIfMatch: `"${ifMatch}"` }),
    ...conditionFields(options),
  });
  const outcome = await sdk.attempt(call, command, options.signal);
  if (!outcome.failure) return writtenAs(outcome.output.CopyObjectResult ?? {});
  const { failure } = outcome;
  if (failure.status === 400 && !isAbsentKey(failure)) {
    const sizeBytes = await sizeOf(sdk, source, options.signal);
    if (sizeBytes > COPY_MAX_BYTES)
      return copyInParts(sdk, { from, to, sizeBytes, partBytes: COPY_PART_BYTES }, options);
  }
  if (ifMatch !== undefined) throw translateFailure(failure, call, sdk.connection.place);
  return unwrittenOr(failure, options, call, sdk.connection.place);
}

/** For objects above S3's limit of one copy. Frees the parts when it fails. */
export async function copyInParts(
  sdk: SdkCaller,
  what: {
    readonly from: CopySource;
    readonly to: string;
    readonly sizeBytes: number;
    readonly partBytes: number;
  },
  options: CallOptions & { readonly description?: ObjectDescription },
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
