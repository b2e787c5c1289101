/** Multipart uploads by the SDK. The lean store sends the parts themselves. */
import type { CompletedPart, Part } from '@aws-sdk/client-s3';
import type {
  ByteRange,
  CallOptions,
  ChecksumKind,
  MultipartStore,
  MultipartUpload,
  PartInfo,
  PutOptions,
  PutOutcome,
} from '../object-store.ts';
import { rangeHeader } from './checked-body.ts';
import { translateFailure, unwrittenOr } from './s3-errors.ts';
import { encodeKey } from './s3-signer.ts';
import { base64OfCrc32, crc32OfBase64, partChecksumOf } from './s3-values.ts';
import { unquote } from './s3-xml.ts';
import { callOf, type SdkCaller } from './sdk-caller.ts';
import { checksumFields, conditionFields } from './sdk-fields.ts';

export function createSdkMultipart(sdk: SdkCaller): MultipartStore {
  return {
    create: (key, options = {}) => create(sdk, key, options),
    uploadPart: (upload, number, bytes, options = {}) => uploadPart(sdk, upload, { number, bytes, options }),
    uploadPartCopy: (upload, number, source, options = {}) =>
      uploadPartCopy(sdk, upload, { number, ...source }, options),
    listParts: (upload, options = {}) => listParts(sdk, upload, options),
    complete: (upload, parts, options = {}) => complete(sdk, upload, parts, options),
    abort: (upload, options = {}) => abort(sdk, upload, options),
  };
}

async function create(
  sdk: SdkCaller,
  key: string,
  { checksum, signal }: CallOptions & { readonly checksum?: ChecksumKind },
): Promise<string> {
  const call = callOf(sdk, 'CreateMultipartUpload', key);
  const command = new sdk.module.CreateMultipartUploadCommand({
    ...sdk.object(key),
    ContentType: 'application/octet-stream',
    ...(checksum === 'sha256' ? { ChecksumAlgorithm: 'SHA256' } : {}),
    // The store joins the parts' CRCs to that of the whole object.
    ...(checksum === 'crc32' ? { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } : {}),
  });
  const output = await sdk.send(call, command, signal);
  return output.UploadId ?? '';
}

async function uploadPart(
  sdk: SdkCaller,
  upload: MultipartUpload,
  {
    number,
    bytes,
    options,
  }: { readonly number: number; readonly bytes: Uint8Array; readonly options: PutOptions },
): Promise<PartInfo> {
  const call = callOf(sdk, 'UploadPart', upload.key);
  const fields = checksumFields(options);
  const command = new sdk.module.UploadPartCommand({
    ...partOf(sdk, upload, number),
    Body: bytes,
    ...fields,
  });
  const output = await sdk.send(call, command, options.signal);
  return {
    number,
    etag: unquote(output.ETag ?? ''),
    sizeBytes: bytes.byteLength,
    ...partChecksumOf(options),
  };
}

async function uploadPartCopy(
  sdk: SdkCaller,
  upload: MultipartUpload,
  { number, key, range }: { readonly number: number; readonly key: string; readonly range?: ByteRange },
  { signal }: CallOptions,
): Promise<PartInfo> {
  const call = callOf(sdk, 'UploadPartCopy', key);
  const command = new sdk.module.UploadPartCopyCommand({
    ...partOf(sdk, upload, number),
    CopySource: copySource(sdk, key),
    ...(range ? { CopySourceRange: rangeHeader(range) } : {}),
  });
  const output = await sdk.send(call, command, signal);
  const copied = output.CopyPartResult ?? {};
  const sizeBytes = range ? range.end - range.start : await sizeOf(sdk, key, signal);
  return partInfoOf({ ...copied, PartNumber: number, Size: sizeBytes });
}

/** The store does not tell the size of what it copied. */
export async function sizeOf(sdk: SdkCaller, key: string, signal: AbortSignal | undefined): Promise<number> {
  const command = new sdk.module.HeadObjectCommand(sdk.object(key));
  return (await sdk.send(callOf(sdk, 'HEAD', key), command, signal)).ContentLength ?? 0;
}

async function listParts(
  sdk: SdkCaller,
  upload: MultipartUpload,
  { signal }: CallOptions,
): Promise<readonly PartInfo[]> {
  const call = callOf(sdk, 'ListParts', upload.key);
  const parts: PartInfo[] = [];
  for (let marker: string | undefined; ; ) {
    const command = new sdk.module.ListPartsCommand({
      ...sdk.object(upload.key),
      UploadId: upload.uploadId,
      ...(marker === undefined ? {} : { PartNumberMarker: marker }),
    });
    const output = await sdk.send(call, command, signal);
    parts.push(...(output.Parts ?? []).map(partInfoOf));
    const next = output.NextPartNumberMarker;
    if (!output.IsTruncated || next === undefined || next === marker) break;
    marker = next;
  }
  return parts.sort((left, right) => left.number - right.number);
}

function partInfoOf({ PartNumber, ETag, Size, ChecksumSHA256: sha256, ChecksumCRC32 }: Part): PartInfo {
  return {
    number: PartNumber ?? 0,
    etag: unquote(ETag ?? ''),
    sizeBytes: Size ?? 0,
    ...(sha256 ? { sha256 } : {}),
    ...(ChecksumCRC32 ? { crc32: crc32OfBase64(ChecksumCRC32) } : {}),
  };
}

async function complete(
  sdk: SdkCaller,
  upload: MultipartUpload,
  parts: readonly PartInfo[],
  options: PutOptions,
): Promise<PutOutcome> {
  const call = callOf(sdk, 'CompleteMultipartUpload', upload.key);
  const command = new sdk.module.CompleteMultipartUploadCommand({
    ...sdk.object(upload.key),
    UploadId: upload.uploadId,
    MultipartUpload: {
      Parts: parts.toSorted((left, right) => left.number - right.number).map(completedPartOf),
    },
    ...conditionFields(options),
  });
  const outcome = await sdk.attempt(call, command, options.signal);
  if (!outcome.failure) return { written: true, etag: unquote(outcome.output.ETag ?? '') };
  // Of an upload that is gone nothing can be said about the condition.
  if (outcome.failure.code === 'NoSuchUpload')
    throw translateFailure(outcome.failure, call, sdk.connection.place);
  return unwrittenOr(outcome.failure, options, call, sdk.connection.place);
}

function completedPartOf({ number, etag, sha256, crc32 }: PartInfo): CompletedPart {
  return {
    PartNumber: number,
    ETag: `"${etag}"`,
    ...(sha256 === undefined ? {} : { ChecksumSHA256: sha256 }),
    ...(crc32 === undefined ? {} : { ChecksumCRC32: base64OfCrc32(crc32) }),
  };
}

async function abort(sdk: SdkCaller, upload: MultipartUpload, { signal }: CallOptions): Promise<void> {
  const call = callOf(sdk, 'AbortMultipartUpload', upload.key);
  const fields = { ...sdk.object(upload.key), UploadId: upload.uploadId };
  const outcome = await sdk.attempt(call, new sdk.module.AbortMultipartUploadCommand(fields), signal);
  if (outcome.failure && outcome.failure.code !== 'NoSuchUpload') {
    throw translateFailure(outcome.failure, call, sdk.connection.place);
  }
}

function partOf(sdk: SdkCaller, upload: MultipartUpload, number: number) {
  return { ...sdk.object(upload.key), UploadId: upload.uploadId, PartNumber: number };
}

/** The SDK sends this header as it is; S3 decodes it. */
export function copySource(sdk: SdkCaller, key: string): string {
  const { Bucket, Key } = sdk.object(key);
  return `${Bucket}/${encodeKey(Key)}`;
}
