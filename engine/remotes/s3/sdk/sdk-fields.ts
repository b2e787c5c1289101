/** Options and outcomes as the SDK's commands name them. */
import type {
  ChecksumAlgorithm,
  ChecksumType,
  GetObjectCommandOutput,
  HeadObjectCommandOutput,
  StorageClass,
} from '@aws-sdk/client-s3';
import type {
  ChecksumKind,
  ObjectChecksums,
  ObjectDescription,
  ObjectInfo,
  PutOptions,
  PutOutcome,
} from '../../object-store.ts';
import { unquote } from '../answers/s3-xml.ts';
import { checksumPair, objectChecksumsOf } from '../s3-values.ts';

const CHECKSUM_FIELDS = {
  sha256: 'ChecksumSHA256',
  crc32: 'ChecksumCRC32',
  crc64nvme: 'ChecksumCRC64NVME',
} as const;

type ChecksumFields = { readonly [Kind in ChecksumKind as (typeof CHECKSUM_FIELDS)[Kind]]?: string };

export function checksumFields({ checksum }: Pick<PutOptions, 'checksum'>): ChecksumFields {
  if (!checksum) return {};
  const [kind, base64] = checksumPair(checksum);
  return { [CHECKSUM_FIELDS[kind as ChecksumKind]]: base64 };
}

/** The store joins the parts' CRCs to that of the whole object; of SHA-256 it keeps one of the parts' sums. */
export function uploadChecksumFields(kind: ChecksumKind | undefined): {
  ChecksumAlgorithm?: ChecksumAlgorithm;
  ChecksumType?: ChecksumType;
} {
  switch (kind) {
    case undefined:
      return {};
    case 'sha256':
      return { ChecksumAlgorithm: 'SHA256' };
    case 'crc32':
      return { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' };
    case 'crc64nvme':
      return { ChecksumAlgorithm: 'CRC64NVME', ChecksumType: 'FULL_OBJECT' };
  }
}

export function conditionFields({ condition }: Pick<PutOptions, 'condition'>): {
  IfNoneMatch?: string;
  IfMatch?: string;
} {
  if (!condition) return {};
  return 'absent' in condition ? { IfNoneMatch: '*' } : { IfMatch: `"${condition.etag}"` };
}

export function descriptionFields(description: ObjectDescription) {
  const { metadata, storageClass } = description;
  const { cacheControl, contentDisposition, contentEncoding, contentLanguage } = description;
  return {
    ContentType: description.contentType ?? 'application/octet-stream',
    ...(metadata ? { Metadata: { ...metadata } } : {}),
    ...(storageClass === undefined ? {} : { StorageClass: storageClass as StorageClass }),
    ...(cacheControl === undefined ? {} : { CacheControl: cacheControl }),
    ...(contentDisposition === undefined ? {} : { ContentDisposition: contentDisposition }),
    ...(contentEncoding === undefined ? {} : { ContentEncoding: contentEncoding }),
    ...(contentLanguage === undefined ? {} : { ContentLanguage: contentLanguage }),
  };
}

export type SdkChecksums = {
  readonly [Name in keyof ChecksumFields | 'ChecksumType']?: string | undefined;
};

export function checksumsOfOutput(output: SdkChecksums): ObjectChecksums | undefined {
  return objectChecksumsOf({
    crc64nvme: output.ChecksumCRC64NVME,
    crc32: output.ChecksumCRC32,
    sha256: output.ChecksumSHA256,
    type: output.ChecksumType,
  });
}

/** The outcome of a write. */
export function writtenAs(output: SdkChecksums & { readonly ETag?: string | undefined }): PutOutcome {
  const checksums = checksumsOfOutput(output);
  return { written: true, etag: unquote(output.ETag ?? ''), ...(checksums ? { checksums } : {}) };
}

export function infoOfOutput(
  output: HeadObjectCommandOutput | GetObjectCommandOutput,
  key: string,
  told: {
    readonly sizeBytes: number;
    readonly checksums: boolean;
    readonly remoteTimeMs: number | undefined;
  },
): ObjectInfo {
  const checksums = told.checksums ? checksumsOfOutput(output) : undefined;
  return {
    key,
    sizeBytes: told.sizeBytes,
    etag: unquote(output.ETag ?? ''),
    modifiedMs: output.LastModified?.getTime() ?? 0,
    ...descriptionOfOutput(output),
    ...(checksums ? { checksums } : {}),
    ...(output.PartsCount ? { partCount: output.PartsCount } : {}),
    ...(isEncryptedByOthers(output) ? { etagIsOpaque: true } : {}),
    ...(told.remoteTimeMs === undefined ? {} : { remoteTimeMs: told.remoteTimeMs }),
  };
}

/** With SSE-KMS and SSE-C an etag is no MD5 (S3's API reference, "Object": ETag). */
function isEncryptedByOthers(output: HeadObjectCommandOutput | GetObjectCommandOutput): boolean {
  const { SSECustomerAlgorithm, ServerSideEncryption } = output;
  return ServerSideEncryption?.startsWith('aws:kms') === true || SSECustomerAlgorithm !== undefined;
}

function descriptionOfOutput(output: HeadObjectCommandOutput | GetObjectCommandOutput): ObjectDescription {
  const { Metadata: metadata } = output;
  return {
    ...(output.ContentType === undefined ? {} : { contentType: output.ContentType }),
    ...(metadata && Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(output.StorageClass ? { storageClass: output.StorageClass } : {}),
    ...(output.CacheControl ? { cacheControl: output.CacheControl } : {}),
    ...(output.ContentDisposition ? { contentDisposition: output.ContentDisposition } : {}),
    ...(output.ContentEncoding ? { contentEncoding: output.ContentEncoding } : {}),
    ...(output.ContentLanguage ? { contentLanguage: output.ContentLanguage } : {}),
  };
}
