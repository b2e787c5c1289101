/** How large the parts of an upload are. */
import type { MultipartTraits } from '../../remotes/object-store.ts';

const MIB = 1024 * 1024;

/** As AWS's own tools have it. A delta sends no less than a part for a byte that changed, and no more is lost in a crash. */
const PART_SIZE_BYTES = 8 * MIB;
/** A single large object takes up to a third less time in parts of this size (measured with versitygw), for half the requests. */
const LARGE_PART_SIZE_BYTES = 16 * MIB;
const LARGE_OBJECT_BYTES = 512 * MIB;
/** S3's limit. */
const PARTS_MAX = 10_000;
/** Of the largest object that S3 kept for most of its life, 5 TiB. What memory for parts has to foresee. */
export const PART_SIZE_MAX_BYTES = 525 * MIB;
/** An object in larger parts than these is sent whole: two of them fill the default memory. */
export const DELTA_BLOCK_MAX_BYTES = 128 * MIB;

/**
 * The wanted size, or the least whole MiB that keeps the object within 10,000 parts.
 * @param bytesMax What the store says of its parts (`partBytesMax`): there may be more of them, and none is larger.
 */
export function partSizeFor(
  sizeBytes: number,
  wantedBytes: number = usualPartSize(sizeBytes),
  bytesMax = Number.POSITIVE_INFINITY,
): number {
  const isEnough = sizeBytes <= wantedBytes * PARTS_MAX;
  return Math.min(isEnough ? wantedBytes : Math.ceil(sizeBytes / PARTS_MAX / MIB) * MIB, bytesMax);
}

/** Whether parts of this size can make up an object at a store. */
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
