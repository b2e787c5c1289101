/**
 * How a stream is cut into the parts of a multipart upload. A stream that fits into one part becomes one
 * object.
 */
import type { PutStreamOptions } from './object-store.ts';

const MIB = 1024 * 1024;
/** S3's limits, unless the store has others: at most 10,000 parts, each of at least 5 MiB but the last. */
const PARTS_MAX = 10_000;
const PART_MIN_BYTES = 5 * MIB;
/** A stream of unknown length may have up to 160 GB. */
const PART_DEFAULT_BYTES = 16 * MIB;

/** @param bytesMax The store's limit for parts (`partBytesMax`). */
export function streamPartBytes(
  { sizeBytes, partSizeBytes }: PutStreamOptions,
  bytesMax = Number.POSITIVE_INFINITY,
): number {
  const needed = sizeBytes === undefined ? PART_MIN_BYTES : Math.ceil(sizeBytes / PARTS_MAX);
  return Math.min(Math.max(partSizeBytes ?? PART_DEFAULT_BYTES, needed, PART_MIN_BYTES), bytesMax);
}

/** The requests of a stream: one, or one to begin, one per part and one to complete. */
export function streamRequests(streamedBytes: number, options: PutStreamOptions, bytesMax?: number): number {
  const partBytes = streamPartBytes(options, bytesMax);
  return streamedBytes <= partBytes ? 1 : 2 + Math.ceil(streamedBytes / partBytes);
}
