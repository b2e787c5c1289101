/** CopyObject by the SDK. */
import type { StorageClass } from '@aws-sdk/client-s3';
import type { CallOptions, CopyOptions, CopySource, ObjectInfo, PutOutcome } from '../../object-store.ts';
import { translateFailure } from '../answers/s3-errors.ts';
import { type CopyAttempt, copyWithin } from '../copy-within.ts';
import { copySourceOf, type FullPlace, fullPlaceOf } from '../s3-copy-source.ts';
import type { SdkCaller } from './sdk-caller.ts';
import { conditionFields, descriptionFields, infoOfOutput, writtenAs } from './sdk-fields.ts';
import { createSdkMultipart } from './sdk-multipart.ts';

export function copyInStore(
  sdk: SdkCaller,
  from: CopySource,
  to: string,
  options: CopyOptions,
): Promise<PutOutcome> {
  const fullSource = fullPlaceOf(sdk.connection.place, from);
  return copyWithin(
    {
      place: sdk.connection.place,
      multipart: createSdkMultipart(sdk),
      copyOnce: () => copyOnce(sdk, fullSource, to, options),
      headSource: (call) => headSource(sdk, fullSource, call),
    },
    { from, to, fullSource },
    options,
  );
}

async function copyOnce(
  sdk: SdkCaller,
  source: FullPlace,
  to: string,
  options: CopyOptions,
): Promise<CopyAttempt> {
  const { description, storageClass, ifMatch } = options;
  const command = new sdk.module.CopyObjectCommand({
    ...sdk.object(to),
    CopySource: copySourceOf(source),
    ...(description ? { MetadataDirective: 'REPLACE', ...descriptionFields(description) } : {}),
    ...(storageClass === undefined ? {} : { StorageClass: storageClass as StorageClass }),
    ...(ifMatch === undefined ? {} : { CopySourceIfMatch: `"${ifMatch}"` }),
    ...conditionFields(options),
  });
  const outcome = await sdk.attempt({ operation: 'COPY', key: source.key }, command, options.signal);
  if (outcome.failure) return { failure: outcome.failure };
  return { outcome: writtenAs(outcome.output.CopyObjectResult ?? {}) };
}

async function headSource(
  sdk: SdkCaller,
  { bucket, key }: FullPlace,
  { signal }: CallOptions,
): Promise<ObjectInfo | undefined> {
  const call = { operation: 'HEAD', key };
  const command = new sdk.module.HeadObjectCommand({ Bucket: bucket, Key: key });
  const outcome = await sdk.attempt(call, command, signal);
  if (outcome.failure) {
    if (outcome.failure.status === 404) return undefined;
    throw translateFailure(outcome.failure, call, sdk.connection.place);
  }
  const { output, remoteTimeMs } = outcome;
  return infoOfOutput(output, key, {
    sizeBytes: output.ContentLength ?? 0,
    checksums: false,
    remoteTimeMs,
  });
}
