/** Multipart uploads by lean calls. */
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
import { parseCopiedPart, parsePartsPage, parseUploadId, parseWritten } from '../answers/s3-xml-results.ts';
import {
  checksumHeaders,
  checksumsOfAnswer,
  conditionHeaders,
  descriptionHeaders,
  etagOf,
} from '../object-headers.ts';
import { failedCall, type LeanRequest } from '../s3-connection.ts';
import { copySourceOf, fullPlaceOf } from '../s3-copy-source.ts';
import { partChecksumOf } from '../s3-values.ts';
import {
  exchangeXml,
  type Lean,
  noteVerified,
  payloadHashOf,
  requestFor,
  STORE_WORK_QUIET_MS,
  xmlBody,
} from './lean-call.ts';
import { sourceSize } from './lean-copy.ts';
import { listUploads } from './lean-list-uploads.ts';

type PartSource = Parameters<MultipartStore['uploadPartCopy']>[2];

export function createLeanMultipart(lean: Lean): MultipartStore {
  return {
    carriesStreams: true,
    create: (key, options = {}) => create(lean, key, options),
    uploadPart: (upload, number, bytes, options = {}) => uploadPart(lean, upload, { number, bytes, options }),
    uploadPartCopy: (upload, number, source, options = {}) =>
      uploadPartCopy(lean, upload, { number, ...source }, options),
    listParts: (upload, options = {}) => listParts(lean, upload, options),
    complete: (upload, parts, options = {}) => complete(lean, upload, parts, options),
    abort: (upload, options = {}) => abort(lean, upload, options),
    listUploads: (request, options = {}) => listUploads(lean, request, options),
  };
}

/** The store joins the parts' CRCs to that of the whole object; of SHA-256 it keeps one of the parts' sums. */
const UPLOAD_CHECKSUM_HEADERS: Readonly<Record<ChecksumKind, Readonly<Record<string, string>>>> = {
  sha256: { 'x-amz-checksum-algorithm': 'SHA256' },
  crc32: { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' },
  crc64nvme: { 'x-amz-checksum-algorithm': 'CRC64NVME', 'x-amz-checksum-type': 'FULL_OBJECT' },
};

async function create(lean: Lean, key: string, options: CreateUploadOptions): Promise<string> {
  const request: LeanRequest = {
    ...requestFor(lean.connection, { operation: 'CreateMultipartUpload', method: 'POST', key }, options),
    query: { uploads: '' },
    headers: {
      ...descriptionHeaders(options),
      ...(options.checksum ? UPLOAD_CHECKSUM_HEADERS[options.checksum] : {}),
    },
  };
  const uploadId = parseUploadId(await resultOf(lean, request, 'InitiateMultipartUploadResult'));
  if (uploadId !== '') return uploadId;
  throw new DrayError('remoteFailed', `The store began an upload of ${key} and gave it no name.`, {
    retry: 'retry',
    data: { key },
  });
}

async function uploadPart(
  lean: Lean,
  upload: MultipartUpload,
  part: { readonly number: number; readonly bytes: Uint8Array; readonly options: PutOptions },
): Promise<PartInfo> {
  const { client, connection } = lean;
  const { number, bytes, options } = part;
  const request: LeanRequest = {
    ...partRequest(lean, upload, { number, operation: 'UploadPart' }, options),
    headers: checksumHeaders(options),
    payloadHash: payloadHashOf(bytes, options, lean),
    body: bytes,
  };
  const answer = await client.exchange(request, 0);
  if (answer.failure) throw failedCall(answer.failure, request.call, connection);
  noteVerified(answer, options, lean);
  const { covers: _, ...told } = checksumsOfAnswer(answer) ?? { covers: 'whole' };
  return { number, etag: etagOf(answer), sizeBytes: bytes.byteLength, ...told, ...partChecksumOf(options) };
}

async function uploadPartCopy(
  lean: Lean,
  upload: MultipartUpload,
  { number, key, range, ifMatch }: { readonly number: number } & PartSource,
  options: CallOptions,
): Promise<PartInfo> {
  const source = fullPlaceOf(lean.connection.place, key);
  const request: LeanRequest = {
    ...partRequest(lean, upload, { number, operation: 'UploadPartCopy' }, options),
    call: { operation: 'UploadPartCopy', key: source.key },
    headers: {
      'x-amz-copy-source': copySourceOf(source),
      ...(range ? { 'x-amz-copy-source-range': rangeHeader(range) } : {}),
      ...(ifMatch === undefined ? {} : { 'x-amz-copy-source-if-match': `"${ifMatch}"` }),
    },
    quietMs: STORE_WORK_QUIET_MS,
  };
  const copied = parseCopiedPart(await resultOf(lean, request, 'CopyPartResult'));
  // The store does not tell the size of what it copied.
  const sizeBytes = range ? range.end - range.start : await sourceSize(lean, key, options);
  return { number, sizeBytes, ...copied };
}

async function listParts(
  lean: Lean,
  upload: MultipartUpload,
  options: CallOptions,
): Promise<readonly PartInfo[]> {
  const { key, uploadId } = upload;
  const parts: PartInfo[] = [];
  for (let marker: string | undefined; ; ) {
    const request: LeanRequest = {
      ...requestFor(lean.connection, { operation: 'ListParts', method: 'GET', key }, options),
      query: { ...(marker === undefined ? {} : { 'part-number-marker': marker }), uploadId },
    };
    const page = parsePartsPage(await resultOf(lean, request, 'ListPartsResult'));
    parts.push(...page.parts);
    if (page.next === undefined || page.next === marker) break;
    marker = page.next;
  }
  return parts.sort((left, right) => left.number - right.number);
}

async function complete(
  lean: Lean,
  upload: MultipartUpload,
  parts: readonly PartInfo[],
  options: PutOptions,
): Promise<PutOutcome> {
  const { place } = lean.connection;
  const { key, uploadId } = upload;
  const request: LeanRequest = {
    ...requestFor(lean.connection, { operation: 'CompleteMultipartUpload', method: 'POST', key }, options),
    query: { uploadId },
    headers: {
      'content-type': 'application/xml',
      ...conditionHeaders(options),
      ...wholeChecksumHeaders(options),
    },
    ...xmlBody(completionXml(parts)),
    quietMs: STORE_WORK_QUIET_MS,
  };
  const { xml, failure } = await exchangeXml(lean, request, 'CompleteMultipartUploadResult');
  if (xml !== undefined) {
    const { etag, checksums } = parseWritten(xml);
    return { written: true, etag, ...(checksums ? { checksums } : {}) };
  }
  return uncompletedOr(failure, options, request.call, place);
}

/** A SHA-256 of the whole is nothing that S3 could join from those of the parts. */
function wholeChecksumHeaders({ checksum }: PutOptions): Record<string, string> {
  if (!checksum || 'sha256' in checksum) return {};
  return { ...checksumHeaders({ checksum }), 'x-amz-checksum-type': 'FULL_OBJECT' };
}

async function abort(lean: Lean, { key, uploadId }: MultipartUpload, options: CallOptions): Promise<void> {
  const request: LeanRequest = {
    ...requestFor(lean.connection, { operation: 'AbortMultipartUpload', method: 'DELETE', key }, options),
    query: { uploadId },
  };
  const { failure } = await lean.client.exchange(request, 0);
  if (failure && failure.code !== 'NoSuchUpload') throw failedCall(failure, request.call, lean.connection);
}

function partRequest(
  { connection }: Lean,
  { key, uploadId }: MultipartUpload,
  { number, operation }: { readonly number: number; readonly operation: string },
  options: CallOptions,
): LeanRequest {
  const query = { partNumber: String(number), uploadId };
  return { ...requestFor(connection, { operation, method: 'PUT', key }, options), query };
}

async function resultOf(lean: Lean, request: LeanRequest, rootName: string): Promise<string> {
  const { xml, failure } = await exchangeXml(lean, request, rootName);
  if (failure) throw translateFailure(failure, request.call, lean.connection.place);
  return xml;
}
