/** The results of multipart uploads and copies. */
import type { ObjectChecksums } from '../../object-store.ts';
import { objectChecksumsOf, type RawChecksums } from '../s3-values.ts';
import { textOf, unquote } from './s3-xml.ts';

/** The etag and checksums in the result of a completed upload or a copy. */
export function parseWritten(xml: string): {
  readonly etag: string;
  readonly checksums: ObjectChecksums | undefined;
} {
  return { etag: unquote(textOf(xml, 'ETag') ?? ''), checksums: objectChecksumsOf(rawChecksums(xml)) };
}

export function parseUploadId(xml: string): string {
  return textOf(xml, 'UploadId') ?? '';
}

function rawChecksums(xml: string): RawChecksums {
  return {
    crc64nvme: textOf(xml, 'ChecksumCRC64NVME'),
    crc32: textOf(xml, 'ChecksumCRC32'),
    sha256: textOf(xml, 'ChecksumSHA256'),
    type: textOf(xml, 'ChecksumType'),
  };
}
