/** Chooses the part size of an upload. */
import type { MultipartTraits } from '../../remotes/object-store.ts';

const MIB = 1024 * 1024;

/**
 * The size of AWS's own tools. A delta sends at least one part for a changed byte, and a crash loses at most
 * the parts in flight.
 */
const PART_SIZE_BYTES = 8 * MIB;
/**
 * A single large object takes up to a third less time in parts of this size (measured with versitygw), for
 * half the requests.
 */
const LARGE_PART_SIZE_BYTES = 16 * MIB;
const LARGE_OBJECT_BYTES = 512 * MIB;
/** S3's limit. */
const PARTS_MAX = 10_000;
/** For 5 TiB, S3's largest object for most of its life. Memory for parts must be this large. */
export const PART_SIZE_MAX_BYTES = 525 * MIB;
/** An object in larger parts is sent whole: two of them fill the default memory. */
export const DELTA_BLOCK_MAX_BYTES = 128 * MIB;

/**
 * The requested size, or the least whole MiB that keeps the object within 10,000 parts.
 * @param bytesMax The store's limit (`partBytesMax`): there can be more parts, and none is larger.
 */
export function partSizeFor(
  sizeBytes: number,
  wantedBytes: number = usualPartSize(sizeBytes),
  bytesMax = Number.POSITIVE_INFINITY,
): number {
  const isEnough = sizeBytes <= wantedBytes * PARTS_MAX;
  return Math.min(isEnough ? wantedBytes : Math.ceil(sizeBytes / PARTS_MAX / MIB) * MIB, bytesMax);
}

/** Whether parts of this size can form an object at a store. */
export function canBeParts(
  partSizeBytes: number,
  sizeBytes: number,
  { partBytesMax }: MultipartTraits,
): boolean {
  return partBytesMax === undefined ? sizeBytes <= partSizeBytes * PARTS_MAX : partSizeBytes <= partBytesMax;
}

function usualPartSize(sizeBytes: number): number {
  return sizeBytes < LARGE_OBJECT_BYTES ? PART_SIZE_BYTES : LARGE_PART_SIZE_BYTES;
}
