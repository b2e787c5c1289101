/** Which parts of a broken-off upload need not be sent again. */
import { createHash } from 'node:crypto';
import type { PartInfo } from '../remotes/object-store.ts';

const MD5_HEX = /^[0-9a-f]{32}$/;

/**
 * Whether a part that the store holds is these bytes: the size fits, and so does the strongest sum that the store tells. Where it
 * tells none, an etag that looks like an MD5 is taken for one (S3 and its kin, unless they encrypt with keys of their own; then it does not fit
 * and the part is sent again). A part that nothing vouches for does not count.
 */
export function isHeldPart(held: PartInfo, bytes: Uint8Array, crc32: number): boolean {
  if (held.sizeBytes !== bytes.byteLength) return false;
  if (held.sha256 !== undefined) return held.sha256 === createHash('sha256').update(bytes).digest('base64');
  if (held.crc32 !== undefined) return held.crc32 === crc32;
  return MD5_HEX.test(held.etag) && held.etag === createHash('md5').update(bytes).digest('hex');
}
