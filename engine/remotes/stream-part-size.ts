/** How a stream is cut into the parts of a multipart upload; one that fits into a single part goes up as one object. */
import type { PutStreamOptions } from './object-store.ts';

const MIB = 1024 * 1024;
/** S3's limits, but for stores that have others: at most 10,000 parts, each of at least 5 MiB but the last. */
const PARTS_MAX = 10_000;
const PART_MIN_BYTES = 5 * MIB;
/** Of a stream of unknown length, 160 GB fit. */
const PART_DEFAULT_BYTES = 16 * MIB;

/** @param bytesMax What the store says of its parts (`partBytesMax`). */
export function streamPartBytes(
  { sizeBytes, partSizeBytes }: PutStreamOptions,
  bytesMax = Number.POSITIVE_INFINITY,
): number {
  const needed = sizeBytes === undefined ? PART_MIN_BYTES : Math.ceil(sizeBytes / PARTS_MAX);
  return Math.min(Math.max(partSizeBytes ?? PART_DEFAULT_BYTES, needed, PART_MIN_BYTES), bytesMax);
}

/** Requests that a stream takes: one, or one to begin, one for each part and one to complete. */
export function streamRequests(streamedBytes: number, options: PutStreamOptions, bytesMax?: number): number {
  const partBytes = streamPartBytes(options, bytesMax);
  return streamedBytes <= partBytes ? 1 : 2 + Math.ceil(streamedBytes / partBytes);
}
