/** The options of a write as the SDK's commands name them. */
import type { PutOptions } from '../object-store.ts';
import { base64OfCrc32, base64OfHex } from './s3-values.ts';

export function checksumFields({ checksum }: PutOptions): {
  ChecksumSHA256?: string;
  ChecksumCRC32?: string;
} {
  if (!checksum) return {};
  return 'sha256' in checksum
    ? { ChecksumSHA256: base64OfHex(checksum.sha256) }
    : { ChecksumCRC32: base64OfCrc32(checksum.crc32) };
}

export function conditionFields({ condition }: PutOptions): { IfNoneMatch?: string; IfMatch?: string } {
  if (!condition) return {};
  return 'absent' in condition ? { IfNoneMatch: '*' } : { IfMatch: `"${condition.etag}"` };
}

export function descriptionFields({ contentType, metadata }: PutOptions): {
  ContentType: string;
  Metadata?: Record<string, string>;
} {
  return {
    ContentType: contentType ?? 'application/octet-stream',
    ...(metadata ? { Metadata: { ...metadata } } : {}),
  };
}
