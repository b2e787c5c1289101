/**
 * What vouches for an object's content, and how bytes are held against it.
 *
 * A checksum that the store keeps of the whole content comes first; then the MD5 that rclone leaves in the metadata of multipart
 * uploads; then the etag, where it is one: the MD5 of what was put in one request, or the MD5 of the parts' MD5s and their number. An etag
 * is neither where the store encrypts with keys that it does not own (SSE-KMS, SSE-C), which it says.
 */
import { createHash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { crc64Nvme } from '../base/crc64-nvme.ts';
import type { ObjectInfo } from '../remotes/object-store.ts';

export type ObjectSum =
  | { readonly by: 'crc64nvme'; readonly value: bigint }
  | { readonly by: 'crc32'; readonly value: number }
  /** Base64. */
  | { readonly by: 'sha256'; readonly value: string }
  /** Hex. */
  | { readonly by: 'md5'; readonly value: string }
  | { readonly by: 'md5OfParts'; readonly value: string; readonly partCount: number };

export type SumKind = ObjectSum['by'];

const MD5 = /^[0-9a-f]{32}$/;
const MD5_OF_PARTS = /^[0-9a-f]{32}-([1-9]\d{0,4})$/;
/** Where rclone keeps the MD5 of what it uploads in parts, in base64. */
const RCLONE_MD5_METADATA = 'md5chksum';

/** All that is known, the best first. */
export function sumsOf(
  info: Pick<ObjectInfo, 'checksums' | 'etag' | 'etagIsOpaque' | 'metadata'>,
): readonly ObjectSum[] {
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

/** The best sum that can be computed of bytes alone, without knowing where the parts were cut. */
export function bestSum(info: Parameters<typeof sumsOf>[0]): ObjectSum | undefined {
  return sumsOf(info)[0];
}

/** Whether the bytes are the whole content that the sum is of; undefined for sums of parts. CRC64NVME only after `loadCrc64`. */
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
      // One part: its MD5 is known whole. More of them: where they were cut is not.
      return sum.partCount === 1
        ? multipartEtag([createHash('md5').update(bytes).digest()]) === sum.value
        : undefined;
  }
}

/** S3's etag of an object in parts: the MD5 of the parts' MD5s (16 bytes each), `-`, and their number. */
export function multipartEtag(partMd5s: readonly Uint8Array[]): string {
  const joined = createHash('md5');
  for (const part of partMd5s) joined.update(part);
  return `${joined.digest('hex')}-${partMd5s.length}`;
}

/** A running sum over content that comes in order. */
export interface ContentHasher {
  update(bytes: Uint8Array): void;
  /** Whether what has passed is the content that the sum is of. To be called once. */
  matches(): boolean;
}

/** For sums that need the content in order. `partBytes`: the size of all parts but the last, for `md5OfParts`. */
export function createContentHasher(sum: ObjectSum, partBytes = 0): ContentHasher {
  switch (sum.by) {
    case 'sha256':
    case 'md5': {
      const running = createHash(sum.by);
      const encoding = sum.by === 'sha256' ? 'base64' : 'hex';
      return {
        update: (bytes) => void running.update(bytes),
        matches: () => running.digest(encoding) === sum.value,
      };
    }
    case 'md5OfParts':
      return createPartsHasher(sum.value, partBytes);
    case 'crc64nvme': {
      let value = 0n;
      return {
        update: (bytes) => {
          value = crc64Nvme(bytes, value);
        },
        matches: () => value === sum.value,
      };
    }
    case 'crc32': {
      let value = 0;
      return {
        update: (bytes) => {
          value = crc32(bytes, value);
        },
        matches: () => value === sum.value,
      };
    }
  }
}

function createPartsHasher(etag: string, partBytes: number): ContentHasher {
  const parts: Uint8Array[] = [];
  let running = createHash('md5');
  let filled = 0;
  const endPart = () => {
    parts.push(running.digest());
    running = createHash('md5');
    filled = 0;
  };
  return {
    update(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const taken = Math.min(partBytes - filled, bytes.length - at);
        running.update(bytes.subarray(at, at + taken));
        at += taken;
        filled += taken;
        if (filled === partBytes) endPart();
      }
    },
    matches() {
      if (filled > 0) endPart();
      return multipartEtag(parts) === etag;
    },
  };
}
