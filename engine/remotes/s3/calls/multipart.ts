/** Multipart uploads. The calls that every upload makes are our own; the rest goes through the SDK. */
import { DrayError } from '../../../api/error.ts';
import type {
  CallOptions,
  ChecksumKind,
  CreateUploadOptions,
  MultipartStore,
  MultipartUpload,
  PartInfo,
  PutOptions,
  PutOutcome,
} from '../../object-store.ts';
import { rangeHeader } from '../answers/checked-body.ts';
import { translateFailure, uncompletedOr } from '../answers/s3-errors.ts';
import { completionXml } from '../answers/s3-xml-requests.ts';
import { parseUploadId, parseWritten } from '../answers/s3-xml-results.ts';
import {
  answeredEtag,
  checksumHeaders,
  checksumsOfAnswer,
  conditionHeaders,
  descriptionHeaders,
} from '../object-headers.ts';
import { failedCall, type S3Request } from '../s3-connection.ts';
import { partChecksumOf } from '../s3-values.ts';
import { sourceSize } from './copy.ts';
import { copySourceOf, fullPlaceOf } from './copy-source.ts';
import { listUploads } from './list-uploads.ts';
import { nextMarker, partInfoOf } from './object-parts.ts';
import { putStream } from './put-stream.ts';
import {
  exchangeXml,
  noteVerified,
  payloadHashOf,
  requestFor,
  type S3Caller,
  STORE_WORK_QUIET_MS,
  xmlBody,
} from './s3-call.ts';
import { attemptBySdk, sendBySdk, UNUSED_PLACE } from './sdk-call.ts';

type PartSource = Parameters<MultipartStore['uploadPartCopy']>[2];

export function createMultipart(caller: S3Caller): MultipartStore {
  return {
    putStreamBy: putStream,
    create: (key, options = {}) => create(caller, key, options),
    uploadPart: (upload, number, bytes, options = {}) =>
      uploadPart(caller, upload, { number, bytes, options }),
    uploadPartCopy: (upload, number, source, options = {}) =>
      uploadPartCopy(caller, upload, { number, ...source }, options),
    listParts: (upload, options = {}) => listParts(caller, upload, options),
    complete: (upload, parts, options = {}) => complete(caller, upload, parts, options),
    abort: (upload, options = {}) => abort(caller, upload, options),
    listUploads: (request, options = {}) => listUploads(caller, request, options),
  };
}

/**
 * The store joins the parts' CRCs to that of the whole object; of SHA-256 it keeps one of the parts' sums.
 */
const UPLOAD_CHECKSUM_HEADERS: Readonly<Record<ChecksumKind, Readonly<Record<string, string>>>> = {
  sha256: { 'x-amz-checksum-algorithm': 'SHA256' },
  crc32: { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' },
  crc64nvme: { 'x-amz-checksum-algorithm': 'CRC64NVME', 'x-amz-checksum-type': 'FULL_OBJECT' },
};

async function create(caller: S3Caller, key: string, options: CreateUploadOptions): Promise<string> {
  const request: S3Request = {
    ...requestFor(caller.connection, { operation: 'CreateMultipartUpload', method: 'POST', key }, options),
    query: { uploads: '' },
    headers: {
      ...descriptionHeaders(options),
      ...(options.checksum ? UPLOAD_CHECKSUM_HEADERS[options.checksum] : {}),
    },
  };
  const { xml, failure } = await exchangeXml(caller, request, 'InitiateMultipartUploadResult');
  if (failure) throw translateFailure(failure, request.call, caller.connection.place);
  const uploadId = parseUploadId(xml);
  if (uploadId !== '') return uploadId;
  throw new DrayError('remoteFailed', `The store began an upload of ${key} without an upload id.`, {
    retry: 'retry',
    data: { key },
  });
}

async function uploadPart(
  caller: S3Caller,
  upload: MultipartUpload,
  part: { readonly number: number; readonly bytes: Uint8Array; readonly options: PutOptions },
): Promise<PartInfo> {
  const { client, connection } = caller;
  const { number, bytes, options } = part;
  const request: S3Request = {
    ...requestFor(connection, { operation: 'UploadPart', method: 'PUT', key: upload.key }, options),
    query: { partNumber: String(number), uploadId: upload.uploadId },
    headers: checksumHeaders(options),
    payloadHash: payloadHashOf(bytes, options, caller),
    body: bytes,
  };
  const answer = await client.exchange(request, 0);
  if (answer.failure) throw failedCall(answer.failure, request.call, connection);
  noteVerified(answer, options, caller);
  const { covers: _, ...checksums } = checksumsOfAnswer(answer) ?? { covers: 'whole' };
  return {
    number,
    etag: answeredEtag(answer),
    sizeBytes: bytes.byteLength,
    ...checksums,
    ...partChecksumOf(options),
  };
}

async function uploadPartCopy(
  caller: S3Caller,
  { key: target, uploadId }: MultipartUpload,
  { number, key, range, ifMatch }: { readonly number: number } & PartSource,
  options: CallOptions,
): Promise<PartInfo> {
  const source = fullPlaceOf(caller.connection.place, key);
  const output = await sendBySdk(
    caller,
    {
      operation: 'UploadPartCopy',
      key: target,
      namedKey: source.key,
      root: 'CopyPartResult',
      quietMs: STORE_WORK_QUIET_MS,
    },
    ({ UploadPartCopyCommand }) =>
      new UploadPartCopyCommand({
        ...UNUSED_PLACE,
        UploadId: uploadId,
        PartNumber: number,
        CopySource: copySourceOf(source),
        ...(range ? { CopySourceRange: rangeHeader(range) } : {}),
        ...(ifMatch === undefined ? {} : { CopySourceIfMatch: `"${ifMatch}"` }),
      }),
    options,
  );
  // The answer does not say how large the part is.
  const sizeBytes = range ? range.end - range.start : await sourceSize(caller, key, options);
  return partInfoOf({ ...output.CopyPartResult, PartNumber: number, Size: sizeBytes });
}

async function listParts(
  caller: S3Caller,
  { key, uploadId }: MultipartUpload,
  options: CallOptions,
): Promise<readonly PartInfo[]> {
  const parts: PartInfo[] = [];
  for (let marker: string | undefined; ; ) {
    const page = await sendBySdk(
      caller,
      { operation: 'ListParts', key, root: 'ListPartsResult' },
      ({ ListPartsCommand }) =>
        new ListPartsCommand({
          ...UNUSED_PLACE,
          UploadId: uploadId,
          ...(marker === undefined ? {} : { PartNumberMarker: marker }),
        }),
      options,
    );
    const found = (page.Parts ?? []).map(partInfoOf);
    parts.push(...found);
    marker = nextMarker(page, { marker, count: found.length });
    if (marker === undefined) break;
  }
  return parts.sort((left, right) => left.number - right.number);
}

async function complete(
  caller: S3Caller,
  upload: MultipartUpload,
  parts: readonly PartInfo[],
  options: PutOptions,
): Promise<PutOutcome> {
  const { place } = caller.connection;
  const { key, uploadId } = upload;
  const request: S3Request = {
    ...requestFor(caller.connection, { operation: 'CompleteMultipartUpload', method: 'POST', key }, options),
    query: { uploadId },
    headers: {
      'content-type': 'application/xml',
      ...conditionHeaders(options),
      ...wholeChecksumHeaders(options),
    },
    ...xmlBody(completionXml(parts)),
    quietMs: STORE_WORK_QUIET_MS,
  };
  const { xml, failure } = await exchangeXml(caller, request, 'CompleteMultipartUploadResult');
  if (xml !== undefined) {
    const { etag, checksums } = parseWritten(xml);
    return { written: true, etag, ...(checksums ? { checksums } : {}) };
  }
  return uncompletedOr(failure, options, request.call, place);
}

/** S3 cannot join the parts' SHA-256 sums to one of the whole object. */
function wholeChecksumHeaders({ checksum }: PutOptions): Record<string, string> {
  if (!checksum || 'sha256' in checksum) return {};
  return { ...checksumHeaders({ checksum }), 'x-amz-checksum-type': 'FULL_OBJECT' };
}

async function abort(
  caller: S3Caller,
  { key, uploadId }: MultipartUpload,
  options: CallOptions,
): Promise<void> {
  const { place } = caller.connection;
  const operation = 'AbortMultipartUpload';
  const { failure } = await attemptBySdk(
    caller,
    { operation, key },
    ({ AbortMultipartUploadCommand }) =>
      new AbortMultipartUploadCommand({ ...UNUSED_PLACE, UploadId: uploadId }),
    options,
  );
  if (failure && failure.code !== 'NoSuchUpload')
    throw translateFailure(failure, { operation, key: place.keyPrefix + key }, place);
}
