/** An object's description, checksums and conditions in the headers of requests and answers. */

import type { HttpAnswer } from '../http/http-message.ts';
import type {
  ChecksumKind,
  ObjectChecksums,
  ObjectDescription,
  ObjectInfo,
  PutOptions,
} from '../object-store.ts';
import { unquote } from './answers/s3-xml.ts';
import { dateOf, headerOf } from './s3-connection.ts';
import { checksumPair, objectChecksumsOf } from './s3-values.ts';

type Headers = Record<string, string>;

const METADATA_PREFIX = 'x-amz-meta-';
const CHECKSUM_PREFIX = 'x-amz-checksum-';
const DEFAULT_CONTENT_TYPE = 'application/octet-stream';

const DESCRIPTION_HEADERS = {
  cacheControl: 'cache-control',
  contentDisposition: 'content-disposition',
  contentEncoding: 'content-encoding',
  contentLanguage: 'content-language',
  storageClass: 'x-amz-storage-class',
} as const;

export function descriptionHeaders(description: ObjectDescription): Headers {
  const headers: Headers = { 'content-type': description.contentType ?? DEFAULT_CONTENT_TYPE };
  for (const [field, name] of Object.entries(DESCRIPTION_HEADERS)) {
    const value = description[field as keyof typeof DESCRIPTION_HEADERS];
    if (value !== undefined) headers[name] = value;
  }
  const { metadata } = description;
  if (metadata) {
    for (const [name, value] of Object.entries(metadata))
      headers[METADATA_PREFIX + name.toLowerCase()] = value;
  }
  return headers;
}

export function checksumHeaders({ checksum }: Pick<PutOptions, 'checksum'>): Headers {
  if (!checksum) return {};
  const [kind, base64] = checksumPair(checksum);
  return { [CHECKSUM_PREFIX + kind]: base64 };
}

export function conditionHeaders({ condition }: Pick<PutOptions, 'condition'>): Headers {
  if (!condition) return {};
  return 'absent' in condition ? { 'if-none-match': '*' } : { 'if-match': `"${condition.etag}"` };
}

export function checksumHeaderOf(answer: HttpAnswer, kind: ChecksumKind): string | undefined {
  return headerOf(answer, CHECKSUM_PREFIX + kind);
}

export function checksumsOfAnswer(answer: HttpAnswer): ObjectChecksums | undefined {
  return objectChecksumsOf({
    crc64nvme: checksumHeaderOf(answer, 'crc64nvme'),
    crc32: checksumHeaderOf(answer, 'crc32'),
    sha256: checksumHeaderOf(answer, 'sha256'),
    type: headerOf(answer, `${CHECKSUM_PREFIX}type`),
  });
}

export function answeredEtag(answer: HttpAnswer): string {
  return unquote(headerOf(answer, 'etag') ?? '');
}

/** NaN when the answer has none. */
export function lengthOf(answer: HttpAnswer): number {
  return Number(headerOf(answer, 'content-length') ?? Number.NaN);
}

/** Google's own header for the size, in each of its answers. 0 without it. */
export function storedLengthOf(answer: HttpAnswer): number {
  return Number(headerOf(answer, 'x-goog-stored-content-length')) || 0;
}

/**
 * @param wanted Checksums are returned only on request: some stores send them always, even with ranges.
 */
export function infoOfAnswer(
  answer: HttpAnswer,
  key: string,
  wanted: { readonly sizeBytes: number; readonly checksums: boolean },
): ObjectInfo {
  const remoteTimeMs = dateOf(answer);
  const checksums = wanted.checksums ? checksumsOfAnswer(answer) : undefined;
  const partCount = Number(headerOf(answer, 'x-amz-mp-parts-count') ?? 0);
  return {
    key,
    sizeBytes: wanted.sizeBytes,
    etag: answeredEtag(answer),
    modifiedMs: Date.parse(headerOf(answer, 'last-modified') ?? '') || 0,
    ...descriptionOf(answer),
    ...(checksums ? { checksums } : {}),
    ...(partCount > 0 ? { partCount } : {}),
    ...(isEncryptedByOthers(answer) ? { etagIsOpaque: true } : {}),
    ...(remoteTimeMs === undefined ? {} : { remoteTimeMs }),
  };
}

/** With SSE-KMS and SSE-C an etag is no MD5 (S3's API reference, "Object": ETag). */
function isEncryptedByOthers(answer: HttpAnswer): boolean {
  const encryption = headerOf(answer, 'x-amz-server-side-encryption');
  if (encryption?.startsWith('aws:kms')) return true;
  return headerOf(answer, 'x-amz-server-side-encryption-customer-algorithm') !== undefined;
}

/** The size of the whole object, in the answer to a request for all or a range of it. */
export function wholeSizeOf(answer: HttpAnswer): number {
  const total = /\/(\d+)$/.exec(headerOf(answer, 'content-range') ?? '')?.[1];
  return total === undefined ? lengthOf(answer) : Number(total);
}

function descriptionOf(answer: HttpAnswer): ObjectDescription {
  const description: Record<string, string> = {};
  const contentType = headerOf(answer, 'content-type');
  if (contentType !== undefined) description.contentType = contentType;
  for (const [field, name] of Object.entries(DESCRIPTION_HEADERS)) {
    const value = headerOf(answer, name);
    // Some servers send empty headers for values that were never set.
    if (value !== undefined && value !== '') description[field] = value;
  }
  const metadata = metadataOf(answer);
  return metadata ? { ...description, metadata } : description;
}

function metadataOf(answer: HttpAnswer): Headers | undefined {
  let metadata: Headers | undefined;
  for (const name in answer.headers) {
    if (!name.startsWith(METADATA_PREFIX)) continue;
    metadata ??= {};
    metadata[name.slice(METADATA_PREFIX.length)] = headerOf(answer, name) ?? '';
  }
  return metadata;
}
