/**
 * Deltas into a store. The blocks of the object that an upload replaces are known, so the store itself copies
 * the blocks that did not change and only the others travel.
 *
 * A block has the same offset in both objects, and each block is a part of the upload. The new object is cut
 * like the old one, so the next delta finds its blocks again. CRC64NVME or SHA-256 proves that two blocks are
 * equal. The copy runs under If-Match, the store's checksum of the copied part is compared with the local
 * bytes, and the whole object is verified like any upload.
 */
import type {
  CallOptions,
  ObjectInfo,
  ObjectParts,
  ObjectStore,
  RemoteKey,
} from '../../remotes/object-store.ts';
import type { PartSum } from '../compare/part-sums.ts';
import { type HeldSums, matchesSums } from '../upload/held-parts.ts';

/** The object that an upload replaces, or another object of the same store with similar content. */
export interface PreviousObject {
  readonly key: RemoteKey;
  /** Never ''. */
  readonly etag: string;
  readonly sizeBytes: number;
  /** The size of each block. The last one may be shorter. */
  readonly blockBytes: number;
  /** One for each block, in order: a CRC64NVME, or all known sums. Undefined if no sum is known. */
  readonly sums: readonly (bigint | HeldSums | undefined)[];
}

/** Half open, in bytes of the object. */
export interface Block {
  readonly start: number;
  readonly end: number;
}

export type BlockMatch =
  | 'different'
  /** Proved by a sum of at least 64 bits. */
  | 'same'
  /** Only CRC-32 matches. The caller must also compare the store's checksum of the copied bytes. */
  | 'perhaps';

export function matchBlock(
  previous: PreviousObject,
  block: Block,
  found: { readonly bytes: Uint8Array; readonly sum: PartSum },
): BlockMatch {
  if (!hasBlock(previous, block)) return 'different';
  const known = previous.sums[block.start / previous.blockBytes];
  const sums: HeldSums = typeof known === 'bigint' ? { crc64nvme: known } : (known ?? {});
  if (matchesSums(sums, found.bytes, found.sum) !== true) return 'different';
  return sums.sha256 === undefined && sums.crc64nvme === undefined ? 'perhaps' : 'same';
}

function hasBlock({ blockBytes, sizeBytes }: PreviousObject, { end, start }: Block): boolean {
  return start % blockBytes === 0 && start < sizeBytes && end === Math.min(start + blockBytes, sizeBytes);
}

/**
 * Reads the parts of an object (GetObjectAttributes). Undefined if a delta cannot use them: the object has no
 * parts, they have no sums or unequal sizes, or the object has changed.
 */
export async function previousFromParts(
  store: ObjectStore,
  key: RemoteKey,
  info: Pick<ObjectInfo, 'etag' | 'sizeBytes'>,
  options: CallOptions = {},
): Promise<PreviousObject | undefined> {
  if (info.etag === '' || !store.parts || !store.multipart) return undefined;
  const found = await store.parts(key, options);
  return found && found.etag === info.etag ? previousOf(key, info, found) : undefined;
}

function previousOf(
  key: RemoteKey,
  { etag, sizeBytes }: Pick<ObjectInfo, 'etag' | 'sizeBytes'>,
  { parts }: ObjectParts,
): PreviousObject | undefined {
  const blockBytes = parts[0]?.sizeBytes ?? 0;
  const isUniform = parts.every((part, at) => {
    const end = Math.min((at + 1) * blockBytes, sizeBytes);
    return part.sizeBytes > 0 && part.sizeBytes === end - at * blockBytes;
  });
  if (!isUniform || parts.length * blockBytes < sizeBytes) return undefined;
  const sums = parts.map(({ crc32, crc64nvme, sha256 }) => ({
    ...(crc32 === undefined ? {} : { crc32 }),
    ...(crc64nvme === undefined ? {} : { crc64nvme }),
    ...(sha256 === undefined ? {} : { sha256 }),
  }));
  if (sums.every((sum) => Object.keys(sum).length === 0)) return undefined;
  return { key, etag, sizeBytes, blockBytes, sums };
}
