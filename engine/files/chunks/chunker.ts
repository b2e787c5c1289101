/**
 * Cuts large files by content: FastCDC with normalised chunking (Xia et al., USENIX ATC 2016; IEEE TPDS
 * 2020). The ends of chunks are part of repository format 1, so this is their complete definition:
 *
 * - `gear[b]`, for each byte value b, is the first four bytes, big-endian, of the SHA-256 of the ASCII text
 *   `dray gear <b>` with b in decimal: `gear[0]` is 0xa034055f, `gear[255]` is 0xf3ae693f.
 * - The hash after a byte is `(hash << 1) + gear[byte]`, modulo 2^32. It depends only on the last 32 bytes,
 *   including those before the chunk's `min`.
 * - With `bits` = round(log2(average)): a chunk ends after a byte where the top `bits + 2` bits of the hash
 *   are zero and the chunk is at least `min` and at most `average` bytes long, or the top `bits - 2` bits are
 *   zero and it is longer than `average`; at `max` bytes; or at the end of the file.
 *
 * The first `min` bytes of a chunk are skipped, except for the window's last 31 bytes.
 */
import { type ChunkerMemory, gearOf } from './chunker-memory.ts';
import { LANE_BYTES, type MayCut, openMayCut } from './chunker-wasm.ts';

export interface ChunkSize {
  /** Bytes; at least `WINDOW_BYTES`. Only a file's last chunk may be smaller. */
  readonly min: number;
  /** Bytes; above this the looser mask applies. Chunks of random data are about 15 % larger on average. */
  readonly average: number;
  /** Bytes. */
  readonly max: number;
}

export interface Chunker {
  /**
   * Reads `bytes[from, to)`, which must follow the previous call's bytes; the division of a file into calls
   * has no effect. Returns the index after the first chunk that ends there (continue from it), or -1 when the
   * chunk continues. `bytes` is a view of the chunker's memory.
   */
  findCut(bytes: Uint8Array, from: number, to: number): number;
}

/** Bytes that decide about a cut: one for each bit of the hash. */
export const WINDOW_BYTES = 32;

/** Bits by which the masks are stricter and looser than the average: level 2 of the paper. */
const NORMALISATION_BITS = 2;

/** A thread's tools to cut the content of one memory. */
export interface ChunkerTools {
  readonly gear: Int32Array;
  readonly mayCut: MayCut;
}

export function openChunkerTools(memory: ChunkerMemory): ChunkerTools {
  return { gear: gearOf(memory), mayCut: openMayCut(memory) };
}

/** Throws RangeError for invalid sizes. */
export function createChunker(size: ChunkSize, tools: ChunkerTools): Chunker {
  checkSize(size);
  const { gear } = tools;
  const bits = Math.round(Math.log2(size.average));
  const strictMask = topBits(bits + NORMALISATION_BITS);
  const looseMask = topBits(bits - NORMALISATION_BITS);
  const skipTo = size.min - WINDOW_BYTES;
  let hash = 0;
  let chunkBytes = 0;

  return {
    findCut(bytes, from, to) {
      let at = from;
      while (at < to) {
        if (chunkBytes < skipTo) {
          const skipped = Math.min(skipTo - chunkBytes, to - at);
          at += skipped;
          chunkBytes += skipped;
          hash = 0;
          continue;
        }
        const isWarming = chunkBytes < size.min - 1;
        const isStrict = chunkBytes < size.average;
        const stageEnd = isWarming ? size.min - 1 : isStrict ? size.average : size.max;
        const end = Math.min(to, at + stageEnd - chunkBytes);
        const cut = isWarming ? -1 : scan(bytes, at, end, tools, hash, isStrict ? strictMask : looseMask);
        const isAtMax = chunkBytes + (end - at) === size.max;
        if (cut >= 0 || isAtMax) {
          chunkBytes = 0;
          return cut >= 0 ? cut : end;
        }
        hash = roll(bytes, Math.max(at, end - WINDOW_BYTES), end, gear, hash);
        chunkBytes += end - at;
        at = end;
      }
      return -1;
    },
  };
}

/** The index after the first byte in `[from, to)` at which the masked hash is zero, or -1. */
function scan(
  bytes: Uint8Array,
  from: number,
  to: number,
  { gear, mayCut }: ChunkerTools,
  seed: number,
  mask: number,
): number {
  let hash = seed;
  let at = from;
  for (; to - at >= 2 * LANE_BYTES; at += 2 * LANE_BYTES) {
    const middle = at + LANE_BYTES;
    const second = roll(bytes, middle - WINDOW_BYTES, middle, gear, 0);
    const address = bytes.byteOffset + at;
    if (mayCut(address, address + LANE_BYTES, hash, second, mask)) break;
    const end = middle + LANE_BYTES;
    hash = roll(bytes, end - WINDOW_BYTES, end, gear, 0);
  }
  for (; at < to; at += 1) {
    hash = ((hash << 1) + gear[bytes[at]!]!) | 0;
    if ((hash & mask) === 0) return at + 1;
  }
  return -1;
}

/** The hash after `bytes[from, to)`. */
function roll(bytes: Uint8Array, from: number, to: number, gear: Int32Array, seed: number): number {
  let hash = seed;
  for (let at = from; at < to; at += 1) hash = ((hash << 1) + gear[bytes[at]!]!) | 0;
  return hash;
}

/** The upper bits of the hash, which the most bytes influence. */
function topBits(count: number): number {
  return -1 << (32 - Math.min(31, Math.max(1, count)));
}

function checkSize({ min, average, max }: ChunkSize): void {
  const areWhole = [min, average, max].every(Number.isSafeInteger);
  if (!areWhole || min < WINDOW_BYTES || average < min || max < average) {
    throw new RangeError(`No chunks can be cut with min ${min}, average ${average}, max ${max} bytes.`);
  }
}
