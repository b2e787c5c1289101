/**
 * A pack: small blobs in one object, so that a thousand of them cost one request.
 *
 *     blob 1 | blob 2 | ... | blob n | row 1 ... row n | CRC-32 of the rows | index length | "DRP1"
 *
 * A row is 36 bytes: the SHA-256 of the blob's content and its size in the pack as an unsigned 32-bit number.
 * Blobs are stored back to back in the order of their rows, so a row's offset is the sum of the sizes before
 * it. A blob may be compressed: then its bytes are one zstd frame, whose content has the name. The index is
 * the rows and their CRC-32 (as in zip); the last 8 bytes are its length and the magic. All numbers are
 * little-endian. The pack is named by the SHA-256 of all its bytes.
 *
 * Readers of a dataset never need the index: entries name pack and offset. With the index, a pack can be
 * checked, collected and reused without any commit.
 */
import { crc32 } from 'node:zlib';
import type { BlobHash } from '../../model/entry.ts';

/** The largest pack: its index and offsets are 32-bit, and a writer holds it in memory. */
export const PACK_MAX_BYTES = 1024 * 1024 * 1024;
/** The largest chunk. */
export const BLOB_MAX_BYTES = 1024 * 1024 * 1024;

export const ROW_BYTES = 36;
export const TRAILER_BYTES = 8;
/** The CRC and the trailer: the size of an index without its rows. */
export const INDEX_FIXED_BYTES = 4 + TRAILER_BYTES;

export const HASH_BYTES = 32;
/** "DRP1". */
export const PACK_MAGIC = 0x31505244;

export interface PackedBlob {
  readonly hash: BlobHash;
  readonly offset: number;
  /** Of its content. */
  readonly sizeBytes: number;
  /** Its bytes in the pack if it is compressed. */
  readonly storedBytes?: number;
}

/** Writes rows, CRC and trailer into `target` from `start`; returns the end offset. */
export function writePackIndex(target: Buffer, start: number, blobs: Iterable<PackedBlob>): number {
  let at = start;
  for (const blob of blobs) {
    target.write(blob.hash, at, 'hex');
    target.writeUInt32LE(blob.storedBytes ?? blob.sizeBytes, at + HASH_BYTES);
    at += ROW_BYTES;
  }
  const rows = target.subarray(start, at);
  at = target.writeUInt32LE(crc32(rows), at);
  at = target.writeUInt32LE(at - start, at);
  return target.writeUInt32LE(PACK_MAGIC, at);
}
