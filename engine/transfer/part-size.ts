/** How large the parts of an upload are. */
const MIB = 1024 * 1024;

/** As AWS's own tools have it. A delta sends no less than a part for a byte that changed, and no more is lost in a crash. */
const PART_SIZE_BYTES = 8 * MIB;
/** A single large object takes up to a third less time in parts of this size (measured with versitygw), for half the requests. */
const LARGE_PART_SIZE_BYTES = 16 * MIB;
const LARGE_OBJECT_BYTES = 512 * MIB;
/** S3's limit. */
export const PARTS_MAX = 10_000;
/** Of the largest object that S3 kept for most of its life, 5 TiB. What memory for parts has to foresee. */
export const PART_SIZE_MAX_BYTES = 525 * MIB;
/** An object in larger parts than these is sent whole: two of them fill the default memory. */
export const DELTA_BLOCK_MAX_BYTES = 128 * MIB;

/** The wanted size, or the least whole MiB that keeps the object within 10,000 parts. */
export function partSizeFor(sizeBytes: number, wantedBytes: number = usualPartSize(sizeBytes)): number {
  if (sizeBytes <= wantedBytes * PARTS_MAX) return wantedBytes;
  return Math.ceil(sizeBytes / PARTS_MAX / MIB) * MIB;
}

function usualPartSize(sizeBytes: number): number {
  return sizeBytes < LARGE_OBJECT_BYTES ? PART_SIZE_BYTES : LARGE_PART_SIZE_BYTES;
}
