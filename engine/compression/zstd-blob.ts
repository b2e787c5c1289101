/**
 * One blob as one zstd frame (RFC 8878), and back. A blob is compressed by itself, so that it can be read and
 * shared by itself; its name stays the SHA-256 of its content.
 */
import { promisify } from 'node:util';
import { constants, type ZstdOptions, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Compression } from '../model/layout.ts';

/** The largest content that is compressed: readers hold it in memory. */
export const COMPRESSED_CONTENT_BYTES_MAX = 64 * 1024 * 1024;
/** What a reader may need for a frame beside its content: 8 MiB, as RFC 8878 recommends. */
const FRAME_WINDOW_LOG_MAX = 23;

/**
 * 3 is zstd's default and stores no more than restic's default does. 12 stores 4 to 15 % less at a tenth of
 * the speed; the levels above take minutes for a gigabyte and a core.
 */
const LEVELS: Readonly<Record<Compression, number>> = { auto: 3, max: 12 };

/** The least saving that is worth decompressing at each read: one part in 32. */
const SAVING_MIN_SHIFT = 5;
/** Smaller content saves no more than its entry says in addition. */
const CONTENT_BYTES_MIN = 256;

/** The sample: bytes from several places of the content. */
const SAMPLE_PLACES = 8;
const SAMPLE_PLACE_BYTES = 64;
const SAMPLE_BYTES = SAMPLE_PLACES * SAMPLE_PLACE_BYTES;
/**
 * The chance that two bytes are equal, times 256: 1 for random bytes, with a standard deviation of 22.6 over
 * the length of the sample (0.044 for 512 bytes). At 1.3 the frequencies of the bytes alone save 3 %.
 */
const SKEW_MIN = 1.3;
/** So many standard deviations above 1, also in a short sample: random bytes practically never get there. */
const SKEW_DEVIATIONS = 6.8;
const SKEW_DEVIATION_OF_ONE_BYTE = 22.6;
const counts = new Uint32Array(256);

/**
 * Whether a sample says that compression pays: some bytes are more frequent than others. Costs a microsecond;
 * compressing random bytes would cost as much as hashing them. The places lie inside of the content, because
 * a header says little about what follows.
 */
export function isCompressible(content: Uint8Array): boolean {
  const { length } = content;
  if (length < CONTENT_BYTES_MIN || length > COMPRESSED_CONTENT_BYTES_MAX) return false;
  counts.fill(0);
  if (length <= SAMPLE_BYTES) {
    countBytes(content, 0, length);
    return isSkewed(length);
  }
  const step = length / SAMPLE_PLACES;
  for (let place = 0; place < SAMPLE_PLACES; place += 1) {
    const at = Math.floor((place + 0.5) * step - SAMPLE_PLACE_BYTES / 2);
    countBytes(content, at, at + SAMPLE_PLACE_BYTES);
  }
  return isSkewed(SAMPLE_BYTES);
}

function countBytes(content: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; at += 1) counts[content[at]!]! += 1;
}

function isSkewed(length: number): boolean {
  let pairs = 0;
  for (let byte = 0; byte < counts.length; byte += 1) pairs += counts[byte]! * (counts[byte]! - 1);
  const skew = (pairs / (length * (length - 1))) * counts.length;
  return skew > Math.max(SKEW_MIN, 1 + (SKEW_DEVIATIONS * SKEW_DEVIATION_OF_ONE_BYTE) / length);
}

/** One frame; undefined if it saves too little. */
export function compressBlob(content: Uint8Array, compression: Compression): Uint8Array | undefined {
  const stored = zstdCompressSync(content, optionsFor(content, compression));
  return isWorthIt(stored, content) ? stored : undefined;
}

/** The bytes to store, made by Node's own threads: the content itself where compression does not pay. */
export async function compressInBackground(
  content: Uint8Array,
  compression: Compression | undefined,
): Promise<Uint8Array> {
  if (compression === undefined || !isCompressible(content)) return content;
  const stored = await promisify(zstdCompress)(content, optionsFor(content, compression));
  return isWorthIt(stored, content) ? stored : content;
}

function optionsFor({ length }: Uint8Array, compression: Compression): ZstdOptions {
  return {
    chunkSize: length,
    pledgedSrcSize: length,
    params: { [constants.ZSTD_c_compressionLevel]: LEVELS[compression] },
  };
}

function isWorthIt(stored: Uint8Array, content: Uint8Array): boolean {
  return stored.length < content.length - (content.length >> SAVING_MIN_SHIFT);
}

/**
 * The content of an object: its stored bytes, or what their frame has if they are fewer than the content. A
 * commit may name another stored size, since an object that was lost may have been stored again by another
 * version of zstd, so the caller compares the content with its hash.
 */
export function contentOfObject(stored: Uint8Array, sizeBytes: number): Uint8Array | undefined {
  return stored.length < sizeBytes ? decompressBlob(stored, sizeBytes) : stored;
}

/**
 * The content of a blob's stored bytes; undefined if they are not exactly one frame of exactly this size.
 * Takes as much memory as the caller expects, whatever the frame says of itself.
 */
export function decompressBlob(stored: Uint8Array, sizeBytes: number): Uint8Array | undefined {
  if (sizeBytes > COMPRESSED_CONTENT_BYTES_MAX) return undefined;
  const options: ZstdOptions = {
    chunkSize: Math.max(64, sizeBytes),
    maxOutputLength: sizeBytes,
    params: { [constants.ZSTD_d_windowLogMax]: FRAME_WINDOW_LOG_MAX },
    info: true,
  };
  try {
    // With `info`, Node also returns the engine, which has counted the bytes that it took.
    const { buffer, engine } = zstdDecompressSync(stored, options) as unknown as {
      readonly buffer: Uint8Array;
      readonly engine: { readonly bytesWritten: number };
    };
    return buffer.length === sizeBytes && engine.bytesWritten === stored.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}
