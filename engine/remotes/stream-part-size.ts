/** How a stream is cut into the parts of a multipart upload; one that fits into a single part goes up as one object. */
import type { PutStreamOptions } from './object-store.ts';

const MIB = 1024 * 1024;
/** S3's limits: at most 10,000 parts, each of at least 5 MiB but the last. */
const PARTS_MAX = 10_000;
const PART_MIN_BYTES = 5 * MIB;
/** Of a stream of unknown length, 160 GB fit. */
const PART_DEFAULT_BYTES = 16 * MIB;

export function streamPartBytes({ sizeBytes, partSizeBytes }: PutStreamOptions): number {
  const needed = sizeBytes === undefined ? PART_MIN_BYTES : Math.ceil(sizeBytes / PARTS_MAX);
  return Math.max(partSizeBytes ?? PART_DEFAULT_BYTES, needed, PART_MIN_BYTES);
}

/** Requests that a stream takes: one, or one to begin, one for each part and one to complete. */
export function streamRequests(streamedBytes: number, options: PutStreamOptions): number {
  const partBytes = streamPartBytes(options);
  return streamedBytes <= partBytes ? 1 : 2 + Math.ceil(streamedBytes / partBytes);
}
