/** Dray's values in S3's spelling, and back. */
import type {
  ListedObject,
  ListPage,
  ObjectChecksums,
  ObjectParts,
  PartInfo,
  PutOptions,
} from '../object-store.ts';
import type { RawListPage } from './answers/s3-list-page.ts';

/** SHA-256 from hex, as in names, to base64, as in S3's headers. */
function base64OfHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/** Four bytes, big-endian. */
export function base64OfCrc32(crc32: number): string {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(crc32 >>> 0);
  return bytes.toString('base64');
}

/** Undefined for other texts, such as the sum of a multipart object's parts (`...-3`). */
export function crc32OfBase64(base64: string): number | undefined {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.byteLength === 4 && !base64.includes('-') ? bytes.readUInt32BE() : undefined;
}

/** Eight bytes, big-endian. */
export function base64OfCrc64(crc64nvme: bigint): string {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(crc64nvme);
  return bytes.toString('base64');
}

export function crc64OfBase64(base64: string): bigint | undefined {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.byteLength === 8 ? bytes.readBigUInt64BE() : undefined;
}

/** Checksums as the store spells them: the same in headers, XML and the SDK's fields. */
export interface RawChecksums {
  readonly crc64nvme?: string | undefined;
  readonly crc32?: string | undefined;
  readonly sha256?: string | undefined;
  /** `x-amz-checksum-type`. */
  readonly type?: string | undefined;
}

/** The name in headers, after `x-amz-checksum-`, and the value. */
export function checksumPair(checksum: NonNullable<PutOptions['checksum']>): [name: string, base64: string] {
  if ('sha256' in checksum) return ['sha256', base64OfHex(checksum.sha256)];
  if ('crc32' in checksum) return ['crc32', base64OfCrc32(checksum.crc32)];
  return ['crc64nvme', base64OfCrc64(checksum.crc64nvme)];
}

/**
 * Undefined when the store sent none. If it does not say what they cover, `-N` at the end marks a sum of
 * parts. A CRC64NVME always covers the whole, as S3 has no other.
 */
export function objectChecksumsOf(raw: RawChecksums): ObjectChecksums | undefined {
  const crc64nvme = raw.crc64nvme ? crc64OfBase64(raw.crc64nvme) : undefined;
  const isOfParts =
    crc64nvme === undefined &&
    (raw.type === 'COMPOSITE' || raw.crc32?.includes('-') || raw.sha256?.includes('-'));
  const crc32 = raw.crc32 && !isOfParts ? crc32OfBase64(raw.crc32) : undefined;
  const sha256 = raw.sha256 || undefined;
  const sums = {
    ...(crc64nvme === undefined ? {} : { crc64nvme }),
    ...(crc32 === undefined ? {} : { crc32 }),
    ...(sha256 === undefined || (!isOfParts && sha256.includes('-')) ? {} : { sha256 }),
  };
  if (Object.keys(sums).length === 0) return undefined;
  return { covers: isOfParts ? 'ofParts' : 'whole', ...sums };
}

type PartChecksums = Pick<PartInfo, 'sha256' | 'crc32' | 'crc64nvme'>;

export function partChecksumsOf(raw: RawChecksums): PartChecksums {
  const crc32 = raw.crc32 ? crc32OfBase64(raw.crc32) : undefined;
  const crc64nvme = raw.crc64nvme ? crc64OfBase64(raw.crc64nvme) : undefined;
  return {
    ...(raw.sha256 ? { sha256: raw.sha256 } : {}),
    ...(crc32 === undefined ? {} : { crc32 }),
    ...(crc64nvme === undefined ? {} : { crc64nvme }),
  };
}

/** Undefined for an object that was written in one piece: some servers list that as its only part. */
export function objectPartsOf(etag: string, parts: readonly PartInfo[]): ObjectParts | undefined {
  if (parts.length === 0 || (parts.length === 1 && !etag.includes('-'))) return undefined;
  return { etag, parts: parts.map(({ etag: _, ...part }) => part) };
}

/** The checksum that a part was sent with. */
export function partChecksumOf({ checksum }: PutOptions): PartChecksums {
  if (!checksum || !('sha256' in checksum)) return checksum ?? {};
  return { sha256: base64OfHex(checksum.sha256) };
}

/** The page without the remote's prefix in its keys. */
export function listPageOf(raw: RawListPage, keyPrefix: string): ListPage {
  const cut = keyPrefix.length;
  const objects: readonly ListedObject[] =
    cut === 0 ? raw.objects : raw.objects.map((object) => ({ ...object, key: object.key.slice(cut) }));
  const folders = raw.folders.map((folder) => folder.slice(cut));
  return { objects, folders, ...(raw.continuation === undefined ? {} : { continuation: raw.continuation }) };
}
