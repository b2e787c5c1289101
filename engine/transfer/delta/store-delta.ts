/**
 * Deltas into a store: what an object that is about to be replaced consists of, block by block, so that
 * blocks that did not change are copied inside the store and only the others travel.
 *
 * A block stands at the same offset in both objects, and blocks are the parts of the upload: the new object
 * is cut as the old one was, so the next delta finds its blocks again. That two blocks are the same is said
 * by CRC64NVME or SHA-256. The copy is made under If-Match, what the store tells of the copied part is
 * compared with the bytes at hand, and the whole is checked like any upload.
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

/** The object that an upload replaces, or any other of the same store whose content is alike. */
export interface PreviousObject {
  readonly key: RemoteKey;
  /** Not ''. */
  readonly etag: string;
  readonly sizeBytes: number;
  /** Of each block but the last, which may be shorter. */
  readonly blockBytes: number;
  /** Of the blocks, in order: a CRC64NVME, or what sums are known. Undefined: nothing is. */
  readonly sums: readonly (bigint | HeldSums | undefined)[];
}

/** Half open, in bytes of the object. */
export interface Block {
  readonly start: number;
  readonly end: number;
}

export type BlockMatch =
  | 'different'
  /** By a sum of at least 64 bits. */
  | 'same'
  /** By CRC-32 alone: to be believed only if the store's own word about the copied bytes says so too. */
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
 * What the store tells of the object's parts (GetObjectAttributes). Undefined when it tells nothing that a
 * delta could go by: not in parts, no sums of them, parts of different sizes, or not this object any more.
 */
export async function previousFromParts(
  store: ObjectStore,
  key: RemoteKey,
  info: Pick<ObjectInfo, 'etag' | 'sizeBytes'>,
  options: CallOptions = {},
): Promise<PreviousObject | undefined> {
  if (info.etag === '' || !store.parts || !store.multipart) return undefined;
  const told = await store.parts(key, options);
  return told && told.etag === info.etag ? previousOf(key, info, told) : undefined;
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
