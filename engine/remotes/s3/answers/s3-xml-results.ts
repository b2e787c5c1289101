/** What the results of multipart uploads, copies and removals say. */
import type { ObjectChecksums, PartInfo, PendingUpload } from '../../object-store.ts';
import { objectChecksumsOf, partChecksumsOf, type RawChecksums } from '../s3-values.ts';
import { elementsOf, excerptOf, keyDecoderOf, textOf, timeOf, unquote } from './s3-xml.ts';

/** Of a result that holds an etag and checksums: a completed upload, a copy, a copied part. */
export function parseWritten(xml: string): {
  readonly etag: string;
  readonly checksums: ObjectChecksums | undefined;
} {
  return { etag: unquote(textOf(xml, 'ETag') ?? ''), checksums: objectChecksumsOf(rawChecksums(xml)) };
}

export function parseUploadId(xml: string): string {
  return textOf(xml, 'UploadId') ?? '';
}

export interface RawPartsPage {
  readonly parts: readonly PartInfo[];
  /** The number to go on after; absent on the last page. */
  readonly next?: string;
}

/** Answer to ListParts, and the parts in one to GetObjectAttributes (whose etags are ''). */
export function parsePartsPage(xml: string): RawPartsPage {
  const parts = [...elementsOf(xml, 'Part')].map(parsePart);
  const next = textOf(xml, 'IsTruncated') === 'true' ? textOf(xml, 'NextPartNumberMarker') : undefined;
  return { parts, ...(next === undefined ? {} : { next }) };
}

function parsePart(element: string): PartInfo {
  return {
    number: Number(textOf(element, 'PartNumber') ?? 0),
    etag: unquote(textOf(element, 'ETag') ?? ''),
    sizeBytes: Number(textOf(element, 'Size') ?? 0),
    ...partChecksumsOf(rawChecksums(element)),
  };
}

/** The sums of a part that was copied; the answer does not tell more of it. */
export function parseCopiedPart(xml: string): Omit<PartInfo, 'number' | 'sizeBytes'> {
  return { etag: unquote(textOf(xml, 'ETag') ?? ''), ...partChecksumsOf(rawChecksums(xml)) };
}

export interface RawUploadsPage {
  /** Keys in full, with the remote's prefix. */
  readonly uploads: readonly PendingUpload[];
  readonly isTruncated: boolean;
  readonly key: string | undefined;
  readonly uploadId: string | undefined;
}

/** Answer to ListMultipartUploads. */
export function parseUploadsPage(xml: string): RawUploadsPage {
  const decodeKey = keyDecoderOf(xml);
  const uploads = [...elementsOf(xml, 'Upload')].map((element) => ({
    key: decodeKey(textOf(element, 'Key') ?? ''),
    uploadId: textOf(element, 'UploadId') ?? '',
    startedMs: timeOf(textOf(element, 'Initiated')),
  }));
  const key = textOf(xml, 'NextKeyMarker');
  return {
    uploads,
    isTruncated: textOf(xml, 'IsTruncated') === 'true',
    key: key === undefined ? undefined : decodeKey(key),
    uploadId: textOf(xml, 'NextUploadIdMarker'),
  };
}

export interface RawRemovalError {
  /** In full, with the remote's prefix. */
  readonly key: string;
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** Answer to DeleteObjects: the keys that are still there. */
export function parseRemovalErrors(xml: string): readonly RawRemovalError[] {
  return [...elementsOf(xml, 'Error')].map((element) => ({
    key: textOf(element, 'Key') ?? '',
    code: excerptOf(element, 'Code'),
    message: excerptOf(element, 'Message'),
  }));
}

function rawChecksums(xml: string): RawChecksums {
  return {
    crc64nvme: textOf(xml, 'ChecksumCRC64NVME'),
    crc32: textOf(xml, 'ChecksumCRC32'),
    sha256: textOf(xml, 'ChecksumSHA256'),
    type: textOf(xml, 'ChecksumType'),
  };
}
