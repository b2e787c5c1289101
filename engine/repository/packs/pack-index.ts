/** Reads the index of a pack: what blobs it has, and where. `pack-format.ts` describes its form. */
import { crc32 } from 'node:zlib';
import type { BlobHash } from '../../model/entry.ts';
import { HASH_BYTES, PACK_MAGIC, type PackedBlob, ROW_BYTES, TRAILER_BYTES } from './pack-format.ts';

/** @param pack All of its bytes. @returns A text: what is wrong. */
export function parsePack(pack: Buffer): readonly PackedBlob[] | string {
  const indexBytes = readIndexLength(pack, pack.length);
  if (typeof indexBytes === 'string') return indexBytes;
  const end = pack.length - TRAILER_BYTES;
  return parsePackIndex(pack.subarray(end - indexBytes, end), end - indexBytes);
}

/**
 * The length in bytes of the index (without the trailer), from the trailer.
 * @param tail Ends at the end of the pack. @returns A text: what is wrong.
 */
export function readIndexLength(tail: Buffer, packBytes: number): number | string {
  if (tail.length < TRAILER_BYTES) return 'it is too short for a pack';
  if (tail.readUInt32LE(tail.length - 4) !== PACK_MAGIC) return 'it does not end as a pack does';
  const length = tail.readUInt32LE(tail.length - TRAILER_BYTES);
  const isPossible = length >= 4 && (length - 4) % ROW_BYTES === 0 && length + TRAILER_BYTES <= packBytes;
  return isPossible ? length : 'the length of its index is impossible';
}

/**
 * @param index The rows and their CRC. @param dataBytes The size of the blobs. @returns A text: what is
 * wrong.
 */
export function parsePackIndex(index: Buffer, dataBytes: number): readonly PackedBlob[] | string {
  const rows = index.subarray(0, -4);
  if (crc32(rows) !== index.readUInt32LE(rows.length)) return 'its index does not match its checksum';
  const blobs: PackedBlob[] = [];
  let offset = 0;
  for (let at = 0; at < rows.length; at += ROW_BYTES) {
    const hash = rows.toString('hex', at, at + HASH_BYTES) as BlobHash;
    const sizeBytes = rows.readUInt32LE(at + HASH_BYTES);
    blobs.push({ hash, offset, sizeBytes });
    offset += sizeBytes;
  }
  return offset === dataBytes ? blobs : 'its index does not describe its content';
}
