/** Dray's values in S3's spelling, and back. */
import type { ListedObject, ListPage, PartInfo, PutOptions } from '../object-store.ts';
import type { RawListPage } from './s3-xml.ts';

/** SHA-256 from hex, as names have it, to base64, as S3's headers have it. */
export function base64OfHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/** Four bytes, big-endian. */
export function base64OfCrc32(crc32: number): string {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(crc32 >>> 0);
  return bytes.toString('base64');
}

export function crc32OfBase64(base64: string): number {
  return Buffer.from(base64, 'base64').readUInt32BE();
}

/** What a part is told to have been sent with. */
export function partChecksumOf({ checksum }: PutOptions): Pick<PartInfo, 'sha256' | 'crc32'> {
  if (!checksum) return {};
  return 'sha256' in checksum ? { sha256: base64OfHex(checksum.sha256) } : { crc32: checksum.crc32 };
}

/** The page with the remote's prefix taken off every key. */
export function listPageOf(raw: RawListPage, keyPrefix: string): ListPage {
  const cut = keyPrefix.length;
  const objects: readonly ListedObject[] =
    cut === 0 ? raw.objects : raw.objects.map((object) => ({ ...object, key: object.key.slice(cut) }));
  const folders = raw.folders.map((folder) => folder.slice(cut));
  return { objects, folders, ...(raw.continuation === undefined ? {} : { continuation: raw.continuation }) };
}
