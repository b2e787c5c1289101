/**
 * CRC-64/NVME of bytes anywhere in memory. Each block is copied to the memory of the loops in
 * `crc64-wasm.ts`.
 */
import { POLYNOMIAL_64 } from './crc-combine.ts';
import {
  type Crc64Loops,
  FOLD_BYTES,
  FOLD_DISTANCES,
  FOLD_STEP_BYTES,
  openCrc64Loops,
  TABLE_BYTES,
} from './crc64-wasm.ts';

/** Adds bytes to the CRC of earlier ones, which is 0 for none. */
export type Crc64Sum = (before: bigint, bytes: Uint8Array) => bigint;

/** States are inverted before the first byte and after the last one. */
const INVERTED = 0xffffffffffffffffn;

const PAGE_BYTES = 65_536;
/** A block and its history stay in the processor's first or second cache. */
const BLOCK_BYTES = 32_768;
/** Below, folding costs more than it saves. */
const FOLDED_BYTES_MIN = 2 * FOLD_BYTES;

// Addresses. The history holds the folded bytes before the block.
const HISTORY = TABLE_BYTES;
const BLOCK = HISTORY + FOLD_BYTES;
const WORD_BYTES = 8;
const VECTOR_BYTES = 16;
/** The remainder after folding. */
const REST = BLOCK + BLOCK_BYTES + VECTOR_BYTES;
const REST_BYTES_MAX = FOLD_BYTES + FOLD_STEP_BYTES;
/** Everything may lie a word further on, and additions go up to a vector beyond the end. */
const PAGES = Math.ceil((REST + REST_BYTES_MAX + VECTOR_BYTES + WORD_BYTES) / PAGE_BYTES);

/** Takes some milliseconds. Throws where WebAssembly has no vectors. */
export function openCrc64Sum(): Crc64Sum {
  const loops = openCrc64Loops(PAGES);
  const memory = new Uint8Array(loops.memory.buffer);
  writeTables(new DataView(loops.memory.buffer));
  return (before, bytes) => {
    const sum = bytes.length < FOLDED_BYTES_MIN ? sumShort : sumFolded;
    return BigInt.asUintN(64, sum(loops, memory, before ^ INVERTED, bytes)) ^ INVERTED;
  };
}

function sumShort(loops: Crc64Loops, memory: Uint8Array, state: bigint, bytes: Uint8Array): bigint {
  const at = BLOCK + skewOf(bytes);
  memory.set(bytes, at);
  return loops.table(state, at, at + bytes.length);
}

function sumFolded(loops: Crc64Loops, memory: Uint8Array, state: bigint, bytes: Uint8Array): bigint {
  const foldedBytes = bytes.length - FOLD_BYTES - ((bytes.length - FOLD_BYTES) % FOLD_STEP_BYTES);
  const skew = skewOf(bytes);
  const block = BLOCK + skew;
  const history = HISTORY + skew;
  memory.fill(0, history, block);
  for (let start = 0; start < foldedBytes; start += BLOCK_BYTES) {
    const end = Math.min(foldedBytes, start + BLOCK_BYTES);
    memory.set(bytes.subarray(start, end), block);
    // To start from a state, add it to the first bytes.
    if (start === 0) addState(memory, block, state);
    const blockEnd = block + (end - start);
    loops.fold(block, blockEnd);
    memory.copyWithin(history, blockEnd - FOLD_BYTES, blockEnd);
  }
  // Adds the folded bytes that lie the distances before the rest, then takes the rest by tables.
  memory.fill(0, block, block + VECTOR_BYTES);
  const rest = REST + skew;
  memory.set(bytes.subarray(foldedBytes), rest);
  for (const distance of FOLD_DISTANCES) loops.add(rest, block - distance, block);
  return loops.table(0n, rest, rest + bytes.length - foldedBytes);
}

/**
 * V8 copies shared memory byte by byte, at a third of the speed, unless both sides lie at the same distance
 * from a whole word.
 */
function skewOf(bytes: Uint8Array): number {
  return bytes.byteOffset % WORD_BYTES;
}

function addState(memory: Uint8Array, at: number, state: bigint): void {
  const first = new DataView(memory.buffer, at, 8);
  first.setBigUint64(0, first.getBigUint64(0, true) ^ state, true);
}

/** Table k holds what a byte adds to the state when k more bytes have followed it. */
function writeTables(memory: DataView): void {
  // In halves: bigints would take milliseconds at first use.
  const low = Number(BigInt.asUintN(32, POLYNOMIAL_64));
  const high = Number(POLYNOMIAL_64 >> 32n);
  const lows = new Uint32Array(TABLE_BYTES / 8);
  const highs = new Uint32Array(TABLE_BYTES / 8);
  for (let at = 0; at < lows.length; at += 1) {
    let lower = at < 256 ? at : (lows[at - 256] as number);
    let upper = at < 256 ? 0 : (highs[at - 256] as number);
    if (at < 256) {
      for (let bit = 0; bit < 8; bit += 1) {
        const isOdd = (lower & 1) === 1;
        lower = ((lower >>> 1) | (upper << 31)) ^ (isOdd ? low : 0);
        upper = (upper >>> 1) ^ (isOdd ? high : 0);
      }
    } else {
      const byte = lower & 0xff;
      lower = ((lower >>> 8) | (upper << 24)) ^ (lows[byte] as number);
      upper = (upper >>> 8) ^ (highs[byte] as number);
    }
    lows[at] = lower;
    highs[at] = upper;
    memory.setUint32(8 * at, lower, true);
    memory.setUint32(8 * at + 4, upper, true);
  }
}
