/** The memory store's record of an object, and how it is returned. */

import { computeChecksum } from '../contract/compute-checksum.fixture.ts';
import type {
  ObjectChecksums,
  ObjectDescription,
  ObjectInfo,
  PartInfo,
  PutOptions,
  RemoteKey,
} from '../object-store.ts';
import { checksumKindOf, checksumsOf } from '../received-checksum.ts';

export interface MemoryObject {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly modifiedMs: number;
  readonly description: ObjectDescription;
  /** The checksum of the whole content, as given. Objects without one get a CRC64NVME, as on S3. */
  readonly checksum?: NonNullable<PutOptions['checksum']>;
  /** For an object that was uploaded in parts. */
  readonly parts?: readonly PartInfo[];
  /** In place of `checksum`, for a multipart upload whose checksums cannot be joined. */
  readonly sha256OfParts?: string;
}

/** The input for a new object. */
export interface MemoryWrite {
  readonly bytes: Uint8Array;
  readonly options: Pick<PutOptions, 'condition'>;
  readonly object: Omit<MemoryObject, 'bytes' | 'etag' | 'modifiedMs'>;
}

/** The fields of a description, without other options. */
export function descriptionIn(options: ObjectDescription): ObjectDescription {
  const { contentType, metadata, storageClass } = options;
  const { cacheControl, contentDisposition, contentEncoding, contentLanguage } = options;
  return {
    contentType: contentType ?? 'application/octet-stream',
    ...(metadata && Object.keys(metadata).length > 0 ? { metadata: namesInLowerCase(metadata) } : {}),
    ...(storageClass === undefined ? {} : { storageClass }),
    ...(cacheControl === undefined ? {} : { cacheControl }),
    ...(contentDisposition === undefined ? {} : { contentDisposition }),
    ...(contentEncoding === undefined ? {} : { contentEncoding }),
    ...(contentLanguage === undefined ? {} : { contentLanguage }),
  };
}

export async function describedInfo(
  key: RemoteKey,
  object: MemoryObject,
  wanted: { readonly checksums: boolean },
): Promise<ObjectInfo> {
  const { bytes, etag, modifiedMs, description } = object;
  return {
    key,
    sizeBytes: bytes.byteLength,
    etag,
    modifiedMs,
    ...description,
    ...(wanted.checksums ? { checksums: await checksumsOfObject(object) } : {}),
  };
}

/** Computed on request: most objects of a test never need it. */
async function checksumsOfObject({ bytes, checksum, sha256OfParts }: MemoryObject): Promise<ObjectChecksums> {
  if (sha256OfParts !== undefined) return { covers: 'ofParts', sha256: sha256OfParts };
  const kind = checksum ? checksumKindOf(checksum) : 'crc64nvme';
  return checksumsOf(checksum ?? (await computeChecksum(kind, bytes)));
}

function namesInLowerCase(metadata: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name.toLowerCase(), value]));
}
