/** Compares a store's sums of its bytes with local bytes. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { crc64Nvme } from '../../checksums/crc64-nvme.ts';
import type { PartInfo } from '../../remotes/object-store.ts';
import type { PartSum } from '../compare/part-sums.ts';

const MD5_HEX = /^[0-9a-f]{32}$/;

/** Sums that a store can keep of a part. */
export type HeldSums = Pick<PartInfo, 'sha256' | 'crc32' | 'crc64nvme'>;

/**
 * Whether a part on the store is these bytes: the size and the strongest sum that the store reports match.
 * Without a sum, an etag that looks like an MD5 is taken for one (S3 and similar stores, unless they encrypt
 * with their own keys; then it does not match and the part is sent again). A part without any sum does not
 * count.
 * @param sum Of the bytes, already computed.
 */
export function isHeldPart(held: PartInfo, bytes: Uint8Array, sum: PartSum): boolean {
  if (held.sizeBytes !== bytes.byteLength) return false;
  return matchesSums(held, bytes, sum) ?? matchesEtag(held.etag, bytes);
}

/** Whether the strongest of the sums is that of the bytes; undefined when there is none. */
export function matchesSums(held: HeldSums, bytes: Uint8Array, sum: PartSum): boolean | undefined {
  if (held.sha256 !== undefined) return held.sha256 === createHash('sha256').update(bytes).digest('base64');
  if (held.crc64nvme !== undefined)
    return held.crc64nvme === ('crc64nvme' in sum ? sum.crc64nvme : crc64Nvme(bytes));
  if (held.crc32 !== undefined) return held.crc32 === ('crc32' in sum ? sum.crc32 : crc32(bytes));
  return undefined;
}

export function isMd5(etag: string): boolean {
  return MD5_HEX.test(etag);
}

export function matchesEtag(etag: string, bytes: Uint8Array): boolean {
  return isMd5(etag) && etag === createHash('md5').update(bytes).digest('hex');
}
