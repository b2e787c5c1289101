/**
 * zstd frames that are not compressed (RFC 8878: raw blocks), written and read in JavaScript. Node's own
 * takes most of the time of documents of a few bytes, so a model that makes millions of them uses these.
 */
export function rawZstd() {
  return { zstdCompressSync, zstdDecompressSync };
}

const MAGIC = 0xfd2fb528;
/** Single segment, with the content's size in four bytes. */
const DESCRIPTOR = 0xa0;
const HEAD_BYTES = 12;
const BLOCK_BYTES_MAX = 128 * 1024;

function zstdCompressSync(content: Uint8Array): Buffer {
  if (content.length > BLOCK_BYTES_MAX) throw new Error('The model has no such large documents.');
  const frame = Buffer.alloc(HEAD_BYTES + content.length);
  frame.writeUInt32LE(MAGIC, 0);
  frame[4] = DESCRIPTOR;
  frame.writeUInt32LE(content.length, 5);
  // The last block, raw.
  frame.writeUIntLE((content.length << 3) | 1, 9, 3);
  frame.set(content, HEAD_BYTES);
  return frame;
}

function zstdDecompressSync(frame: Uint8Array): Buffer {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (bytes.readUInt32LE(0) !== MAGIC || bytes[4] !== DESCRIPTOR) throw new Error('Not one of these frames.');
  return bytes.subarray(HEAD_BYTES, HEAD_BYTES + bytes.readUInt32LE(5));
}
