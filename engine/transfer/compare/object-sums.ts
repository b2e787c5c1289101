/**
 * The sums that identify an object's content, and the comparison of bytes with them.
 *
 * First comes a checksum that the store keeps of the whole content, then the MD5 that rclone stores in the
 * metadata of multipart uploads. The etag comes last. It is the MD5 of an object put in one request, or the
 * MD5 of the parts' MD5s and their number.
 *
 * An etag is neither where the store encrypts with keys that it does not own (SSE-KMS, SSE-C), which it
 * reports. Without such a report, content that does not match an MD5-like etag counts as damaged, as in
 * rclone. No store in use today silently returns 32 hex digits with another meaning, and a missed damage
 * would be worse than a false alarm.
 */
import { createHash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { crc64Nvme } from '../../checksums/crc64-nvme.ts';
import type { ObjectInfo } from '../../remotes/object-store.ts';
import { candidatePartBytes } from './part-layout.ts';

export type ObjectSum =
  | { readonly by: 'crc64nvme'; readonly value: bigint }
  | { readonly by: 'crc32'; readonly value: number }
  /** Base64. */
  | { readonly by: 'sha256'; readonly value: string }
  /** Hex. */
  | { readonly by: 'md5'; readonly value: string }
  /** The etag. */
  | { readonly by: 'md5OfParts'; readonly value: string; readonly partCount: number };

export type SumKind = ObjectSum['by'];

/** The fields of an object that contain sums. */
export type SummedInfo = Pick<ObjectInfo, 'checksums' | 'etag' | 'etagIsOpaque' | 'metadata'>;

const MD5 = /^[0-9a-f]{32}$/;
const MD5_OF_PARTS = /^[0-9a-f]{32}-([1-9]\d{0,4})$/;
/** Where rclone stores the MD5 of its multipart uploads, in base64. */
const RCLONE_MD5_METADATA = 'md5chksum';

/** All known sums, the best first. */
export function sumsOf(info: SummedInfo): readonly ObjectSum[] {
  const { checksums, etag, etagIsOpaque, metadata } = info;
  const sums: ObjectSum[] = [];
  if (checksums?.covers === 'whole') {
    const { crc64nvme, sha256 } = checksums;
    if (crc64nvme !== undefined) sums.push({ by: 'crc64nvme', value: crc64nvme });
    if (sha256 !== undefined) sums.push({ by: 'sha256', value: sha256 });
    if (checksums.crc32 !== undefined) sums.push({ by: 'crc32', value: checksums.crc32 });
  }
  const kept = metadata?.[RCLONE_MD5_METADATA];
  if (kept !== undefined) {
    const hex = Buffer.from(kept, 'base64').toString('hex');
    if (MD5.test(hex)) sums.push({ by: 'md5', value: hex });
  }
  if (etagIsOpaque) return sums;
  const parts = MD5_OF_PARTS.exec(etag);
  if (MD5.test(etag)) sums.push({ by: 'md5', value: etag });
  else if (parts) sums.push({ by: 'md5OfParts', value: etag, partCount: Number(parts[1]) });
  return sums;
}

/** Undefined when only the size is known. */
export function bestSum(info: SummedInfo): ObjectSum | undefined {
  return sumsOf(info)[0];
}

/**
 * Whether the bytes are the whole content of the sum. For parts: undefined when no usual part size matches.
 * CRC64NVME only after `loadCrc64`.
 */
export function matchesSum(bytes: Uint8Array, sum: ObjectSum): boolean | undefined {
  switch (sum.by) {
    case 'crc64nvme':
      return crc64Nvme(bytes) === sum.value;
    case 'crc32':
      return crc32(bytes) === sum.value;
    case 'sha256':
      return hash('sha256', bytes, 'base64') === sum.value;
    case 'md5':
      return hash('md5', bytes, 'hex') === sum.value;
    case 'md5OfParts':
      return matchesParts(bytes, sum.value, sum.partCount);
  }
}

function matchesParts(bytes: Uint8Array, etag: string, partCount: number): boolean | undefined {
  // A single part has no cuts.
  if (partCount === 1) return etagInParts(bytes, bytes.length) === etag;
  const fits = candidatePartBytes(bytes.length, partCount).some(
    (partBytes) => etagInParts(bytes, partBytes) === etag,
  );
  return fits || undefined;
}

function etagInParts(bytes: Uint8Array, partBytes: number): string {
  const md5s: Uint8Array[] = [];
  for (let start = 0; start < bytes.length || md5s.length === 0; start += partBytes)
    md5s.push(md5Of(bytes.subarray(start, start + partBytes)));
  return multipartEtag(md5s);
}

/** S3's etag of an object in parts: the MD5 of the parts' MD5s (16 bytes each), `-`, and their number. */
export function multipartEtag(partMd5s: readonly Uint8Array[]): string {
  const joined = createHash('md5');
  for (const part of partMd5s) joined.update(part);
  return `${joined.digest('hex')}-${partMd5s.length}`;
}

function md5Of(bytes: Uint8Array): Uint8Array {
  return createHash('md5').update(bytes).digest();
}
