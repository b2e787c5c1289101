/** Multipart uploads by the SDK. */
import type { CompletedPart, ObjectPart, Part } from '@aws-sdk/client-s3';
import { isNotAllowed } from '../../../api/error.ts';
import type {
  CallOptions,
  CreateUploadOptions,
  MultipartStore,
  MultipartUpload,
  ObjectParts,
  PartInfo,
  PutOptions,
  PutOutcome,
  UploadPage,
} from '../../object-store.ts';
import { rangeHeader } from '../answers/checked-body.ts';
import { isAbsentKey, translateFailure, uncompletedOr } from '../answers/s3-errors.ts';
import { decodeUploadMarker, uploadPageOf } from '../answers/s3-upload-page.ts';
import { unquote } from '../answers/s3-xml.ts';
import { completedParts } from '../completed-parts.ts';
import { copySourceOf, type FullPlace, fullPlaceOf } from '../s3-copy-source.ts';
import {
  base64OfCrc32,
  base64OfCrc64,
  objectPartsOf,
  partChecksumOf,
  partChecksumsOf,
} from '../s3-values.ts';
import { callOf, type SdkCaller } from './sdk-caller.ts';
import {
  checksumFields,
  conditionFields,
  descriptionFields,
  uploadChecksumFields,
  writtenAs,
} from './sdk-fields.ts';

type PartSource = Parameters<MultipartStore['uploadPartCopy']>[2];

export function createSdkMultipart(sdk: SdkCaller): MultipartStore {
  return {
    create: (key, options = {}) => create(sdk, key, options),
    uploadPart: (upload, number, bytes, options = {}) => uploadPart(sdk, upload, { number, bytes, options }),
    uploadPartCopy: (upload, number, source, options = {}) =>
      uploadPartCopy(sdk, upload, { number, ...source }, options),
    listParts: (upload, options = {}) => listParts(sdk, upload, options),
    complete: (upload, parts, options = {}) => complete(sdk, upload, parts, options),
    abort: (upload, options = {}) => abort(sdk, upload, options),
    listUploads: (request, options = {}) => listUploads(sdk, request, options),
  };
}

async function create(sdk: SdkCaller, key: string, options: CreateUploadOptions): Promise<string> {
  const call = callOf(sdk, 'CreateMultipartUpload', key);
  const command = new sdk.module.CreateMultipartUploadCommand({
    ...sdk.object(key),
    ...descriptionFields(options),
    ...uploadChecksumFields(options.checksum),
  });
  const output = await sdk.send(call, command, options.signal);
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
  { number, key, range, ifMatch }: { readonly number: number } & PartSource,
  { signal }: CallOptions,
): Promise<PartInfo> {
  const place = fullPlaceOf(sdk.connection.place, key);
  const call = { operation: 'UploadPartCopy', key: place.key };
  const command = new sdk.module.UploadPartCopyCommand({
    ...partOf(sdk, upload, number),
    CopySource: copySourceOf(place),
    ...(ifMatch === undefined ? {} : { CopySourceIfMatch: `"${ifMatch}"` }),
    ...(range ? { CopySourceRange: rangeHeader(range) } : {}),
  });
  const output = await sdk.send(call, command, signal);
  const copied = output.CopyPartResult ?? {};
  const sizeBytes = range ? range.end - range.start : await sizeOf(sdk, place, signal);
  return partInfoOf({ ...copied, PartNumber: number, Size: sizeBytes });
}

/** The store does not tell the size of what it copied. */
export async function sizeOf(
  sdk: SdkCaller,
  { bucket, key }: FullPlace,
  signal: AbortSignal | undefined,
): Promise<number> {
  const command = new sdk.module.HeadObjectCommand({ Bucket: bucket, Key: key });
  return (await sdk.send({ operation: 'HEAD', key }, command, signal)).ContentLength ?? 0;
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

function partInfoOf({ PartNumber, ETag, Size, ...sums }: Part): PartInfo {
  return {
    number: PartNumber ?? 0,
    etag: unquote(ETag ?? ''),
    sizeBytes: Size ?? 0,
    ...partChecksumsOf({
      sha256: sums.ChecksumSHA256,
      crc32: sums.ChecksumCRC32,
      crc64nvme: sums.ChecksumCRC64NVME,
    }),
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
      Parts: completedParts(parts).map(completedPartOf),
    },
    ...conditionFields(options),
    ...wholeChecksumFields(options),
  });
  const outcome = await sdk.attempt(call, command, options.signal);
  if (!outcome.failure) return writtenAs(outcome.output);
  return uncompletedOr(outcome.failure, options, call, sdk.connection.place);
}

/** A SHA-256 of the whole is nothing that S3 could join from those of the parts. */
function wholeChecksumFields({ checksum }: PutOptions) {
  if (!checksum || 'sha256' in checksum) return {};
  return { ...checksumFields({ checksum }), ChecksumType: 'FULL_OBJECT' as const };
}

function completedPartOf({ number, etag, sha256, crc32, crc64nvme }: PartInfo): CompletedPart {
  return {
    PartNumber: number,
    ETag: `"${etag}"`,
    ...(sha256 === undefined ? {} : { ChecksumSHA256: sha256 }),
    ...(crc32 === undefined ? {} : { ChecksumCRC32: base64OfCrc32(crc32) }),
    ...(crc64nvme === undefined ? {} : { ChecksumCRC64NVME: base64OfCrc64(crc64nvme) }),
  };
}

async function listUploads(
  sdk: SdkCaller,
  { prefix, continuation }: { readonly prefix: string; readonly continuation?: string },
  { signal }: CallOptions,
): Promise<UploadPage> {
  const { bucket, keyPrefix } = sdk.connection.place;
  const marker = continuation === undefined ? undefined : decodeUploadMarker(continuation);
  const command = new sdk.module.ListMultipartUploadsCommand({
    Bucket: bucket,
    Prefix: keyPrefix + prefix,
    ...(marker ? { KeyMarker: marker.key, UploadIdMarker: marker.uploadId } : {}),
  });
  const output = await sdk.send(callOf(sdk, 'ListMultipartUploads'), command, signal);
  const uploads = (output.Uploads ?? []).map(({ Key, UploadId, Initiated }) => ({
    key: (Key ?? '').slice(keyPrefix.length),
    uploadId: UploadId ?? '',
    startedMs: Initiated?.getTime() ?? 0,
  }));
  return uploadPageOf(uploads, {
    isTruncated: output.IsTruncated ?? false,
    key: output.NextKeyMarker,
    uploadId: output.NextUploadIdMarker,
  });
}

async function abort(sdk: SdkCaller, upload: MultipartUpload, { signal }: CallOptions): Promise<void> {
  const call = callOf(sdk, 'AbortMultipartUpload', upload.key);
  const fields = { ...sdk.object(upload.key), UploadId: upload.uploadId };
  const outcome = await sdk.attempt(call, new sdk.module.AbortMultipartUploadCommand(fields), signal);
  if (outcome.failure && outcome.failure.code !== 'NoSuchUpload') {
    throw translateFailure(outcome.failure, call, sdk.connection.place);
  }
}

/** @returns Undefined where the store does not know the call, or keeps nothing of the parts. */
export async function partsOf(
  sdk: SdkCaller,
  key: string,
  { signal }: CallOptions,
): Promise<ObjectParts | undefined> {
  // The etag first: should the object be replaced in between, then whoever relies on it meets a conflict.
  const headed = await sdk.attempt(
    callOf(sdk, 'HEAD', key),
    new sdk.module.HeadObjectCommand(sdk.object(key)),
    signal,
  );
  if (headed.failure) {
    if (headed.failure.status === 404) return undefined;
    throw translateFailure(headed.failure, callOf(sdk, 'HEAD', key), sdk.connection.place);
  }
  const call = callOf(sdk, 'GetObjectAttributes', key);
  const parts: ObjectPart[] = [];
  for (let marker: string | undefined; ; ) {
    const command = new sdk.module.GetObjectAttributesCommand({
      ...sdk.object(key),
      // Some servers refuse a request for several at once.
      ObjectAttributes: ['ObjectParts'],
      ...(marker === undefined ? {} : { PartNumberMarker: marker }),
    });
    const outcome = await sdk.attempt(call, command, signal);
    if (outcome.failure) {
      const error = translateFailure(outcome.failure, call, sdk.connection.place);
      const isUntold = error.code === 'unsupported' || isNotAllowed(error);
      if (isAbsentKey(outcome.failure) || isUntold) return undefined;
      throw error;
    }
    const page = outcome.output.ObjectParts;
    parts.push(...(page?.Parts ?? []));
    const next = page?.NextPartNumberMarker;
    if (!page?.IsTruncated || next === undefined || next === marker) break;
    marker = next;
  }
  return objectPartsOf(unquote(headed.output.ETag ?? ''), parts.map(partInfoOf));
}

function partOf(sdk: SdkCaller, upload: MultipartUpload, number: number) {
  return { ...sdk.object(upload.key), UploadId: upload.uploadId, PartNumber: number };
}
