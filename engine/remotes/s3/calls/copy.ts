/** CopyObject, and the head of its source. */
import { DrayError } from '../../../api/error.ts';
import type {
  CallOptions,
  CopyOptions,
  CopySource,
  MultipartStore,
  ObjectInfo,
  PutOutcome,
} from '../../object-store.ts';
import { parseWritten } from '../answers/s3-xml-results.ts';
import { conditionHeaders, descriptionHeaders } from '../object-headers.ts';
import type { S3Request } from '../s3-connection.ts';
import { copySourceOf, fullPlaceOf } from './copy-source.ts';
import { type CopyAttempt, copyWithin } from './copy-within.ts';
import { head } from './objects.ts';
import { exchangeXml, requestFor, type S3Caller, STORE_WORK_QUIET_MS } from './s3-call.ts';

export function copy(
  caller: S3Caller,
  multipart: MultipartStore,
  what: { readonly from: CopySource; readonly to: string },
  options: CopyOptions,
): Promise<PutOutcome> {
  const { from, to } = what;
  const source = fullPlaceOf(caller.connection.place, from);
  return copyWithin(
    {
      place: caller.connection.place,
      multipart,
      copyOnce: () => copyOnce(caller, what, options),
      headSource: (call) => headSource(caller, from, call),
    },
    { from, to, fullSource: source },
    options,
  );
}

async function copyOnce(
  caller: S3Caller,
  { from, to }: { readonly from: CopySource; readonly to: string },
  options: CopyOptions,
): Promise<CopyAttempt> {
  const { description, storageClass, ifMatch } = options;
  const source = fullPlaceOf(caller.connection.place, from);
  const request: S3Request = {
    ...requestFor(caller.connection, { operation: 'COPY', method: 'PUT', key: to }, options),
    call: { operation: 'COPY', key: source.key },
    headers: {
      'x-amz-copy-source': copySourceOf(source),
      ...(description ? { 'x-amz-metadata-directive': 'REPLACE', ...descriptionHeaders(description) } : {}),
      ...(storageClass === undefined ? {} : { 'x-amz-storage-class': storageClass }),
      ...(ifMatch === undefined ? {} : { 'x-amz-copy-source-if-match': `"${ifMatch}"` }),
      ...conditionHeaders(options),
    },
    quietMs: STORE_WORK_QUIET_MS,
  };
  const { xml, failure } = await exchangeXml(caller, request, 'CopyObjectResult');
  if (failure) return { failure };
  const { etag, checksums } = parseWritten(xml);
  return { outcome: { written: true, etag, ...(checksums ? { checksums } : {}) } };
}

function headSource(
  caller: S3Caller,
  from: CopySource,
  options: CallOptions,
): Promise<ObjectInfo | undefined> {
  const isOwn = typeof from === 'string';
  return isOwn ? head(caller, from, options) : caller.siblingOf(from.bucket).head(from.key, options);
}

/** Fails with `notFound` when the source is not there. */
export async function sourceSize(caller: S3Caller, from: CopySource, options: CallOptions): Promise<number> {
  const info = await headSource(caller, from, options);
  if (info) return info.sizeBytes;
  const { bucket, key } = fullPlaceOf(caller.connection.place, from);
  throw new DrayError('notFound', `s3://${bucket}/${key} cannot be copied: it does not exist.`, {
    data: { bucket, key },
  });
}
