/** CopyObject by a lean call. */
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
import { type CopyAttempt, copyWithin } from '../copy-within.ts';
import { conditionHeaders, descriptionHeaders } from '../object-headers.ts';
import type { LeanRequest } from '../s3-connection.ts';
import { copySourceOf, fullPlaceOf } from '../s3-copy-source.ts';
import { exchangeXml, type Lean, requestFor, STORE_WORK_QUIET_MS } from './lean-call.ts';
import { head } from './lean-objects.ts';

export function copy(
  lean: Lean,
  multipart: MultipartStore,
  what: { readonly from: CopySource; readonly to: string },
  options: CopyOptions,
): Promise<PutOutcome> {
  const { from, to } = what;
  const source = fullPlaceOf(lean.connection.place, from);
  return copyWithin(
    {
      place: lean.connection.place,
      multipart,
      copyOnce: () => copyOnce(lean, what, options),
      headSource: (call) => headSource(lean, from, call),
    },
    { from, to, fullSource: source },
    options,
  );
}

async function copyOnce(
  lean: Lean,
  { from, to }: { readonly from: CopySource; readonly to: string },
  options: CopyOptions,
): Promise<CopyAttempt> {
  const { description, storageClass, ifMatch } = options;
  const source = fullPlaceOf(lean.connection.place, from);
  const request: LeanRequest = {
    ...requestFor(lean.connection, { operation: 'COPY', method: 'PUT', key: to }, options),
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
  const { xml, failure } = await exchangeXml(lean, request, 'CopyObjectResult');
  if (failure) return { failure };
  const { etag, checksums } = parseWritten(xml);
  return { outcome: { written: true, etag, ...(checksums ? { checksums } : {}) } };
}

function headSource(lean: Lean, from: CopySource, options: CallOptions): Promise<ObjectInfo | undefined> {
  const isOwn = typeof from === 'string';
  return isOwn ? head(lean, from, options) : lean.siblingOf(from.bucket).head(from.key, options);
}

/** Fails with `notFound` when the source is not there. */
export async function sourceSize(lean: Lean, from: CopySource, options: CallOptions): Promise<number> {
  const info = await headSource(lean, from, options);
  if (info) return info.sizeBytes;
  const { bucket, key } = fullPlaceOf(lean.connection.place, from);
  throw new DrayError('notFound', `There is no s3://${bucket}/${key} to copy.`, { data: { bucket, key } });
}
