/** Running MD5s of several messages at once, by the loops of `md5-wasm.ts`: up to four share each step. */
import { endianness } from 'node:os';
import {
  MD5_BLOCK_BYTES,
  MD5_FREE,
  MD5_LANES,
  MD5_STATE_WORDS,
  MD5_STATES,
  md5Sines,
  openMd5Loops,
} from './md5-wasm.ts';

export { MD5_LANES } from './md5-wasm.ts';

/** The sum of a message so far. */
export interface RunningMd5 {
  readonly state: Uint32Array;
  /** The bytes that do not fill a block yet. */
  readonly tail: Uint8Array;
  totalBytes: number;
}

/** The next bytes of a message. */
export interface Md5Piece {
  readonly md5: RunningMd5;
  readonly bytes: Uint8Array;
  /** How many of the bytes are in the sum. */
  takenBytes: number;
}

export interface Md5Lanes {
  start(): RunningMd5;
  /**
   * Adds bytes of 1 to `MD5_LANES` pieces, each of another message and with bytes left: all of one piece, or
   * as many of each.
   */
  take(pieces: readonly Md5Piece[]): void;
  /** Returns the digest. Nothing may be added afterwards. */
  end(md5: RunningMd5): Uint8Array;
}

const INITIAL = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476] as const;
const PAGE_BYTES = 65_536;
const WORD_BYTES = 8;
/** The bytes of one round: four of these stay in the processor's second cache. */
const LANE_BYTES = 32_768;
/** A lane's bytes may begin a word later. */
const LANE_STEP_BYTES = LANE_BYTES + WORD_BYTES;
const PAGES = Math.ceil((MD5_FREE + MD5_LANES * LANE_STEP_BYTES) / PAGE_BYTES);
/** The offset in the last block at which the message's length in bits begins. */
const LENGTH_AT = MD5_BLOCK_BYTES - 8;

/** Takes some milliseconds. Throws where WebAssembly has no vectors, and on big-endian machines. */
export function openMd5Lanes(): Md5Lanes {
  if (endianness() !== 'LE') throw new Error('MD5 in lanes needs a little-endian machine.');
  const loops = openMd5Loops(PAGES);
  const memory = new Uint8Array(loops.memory.buffer);
  const words = new Uint32Array(loops.memory.buffer);
  words.set(md5Sines());

  const stateWord = (word: number, lane: number) => MD5_STATES / 4 + MD5_LANES * word + lane;
  const load = ({ state }: RunningMd5, lane: number) => {
    for (let word = 0; word < MD5_STATE_WORDS; word += 1) words[stateWord(word, lane)] = state[word]!;
  };
  const save = ({ state }: RunningMd5, lane: number) => {
    for (let word = 0; word < MD5_STATE_WORDS; word += 1) state[word] = words[stateWord(word, lane)]!;
  };
  /** V8 copies shared memory byte by byte unless both sides lie at the same distance from a whole word. */
  const place = (lane: number, bytes: Uint8Array): number => {
    const at = MD5_FREE + LANE_STEP_BYTES * lane + (bytes.byteOffset % WORD_BYTES);
    memory.set(bytes, at);
    return at;
  };
  const takeOne = (md5: RunningMd5, bytes: Uint8Array) => {
    load(md5, 0);
    const at = place(0, bytes);
    loops.one(at, at + bytes.length);
    save(md5, 0);
  };

  /** Fills the block that was begun. */
  const fillTail = (piece: Md5Piece) => {
    const { bytes, md5, takenBytes } = piece;
    const filled = md5.totalBytes % MD5_BLOCK_BYTES;
    const missing = filled === 0 ? 0 : MD5_BLOCK_BYTES - filled;
    const added = bytes.subarray(takenBytes, takenBytes + missing);
    md5.tail.set(added, filled);
    advance(piece, added.length);
    if (missing > 0 && added.length === missing) takeOne(md5, md5.tail);
  };
  /** Keeps the rest of a piece that does not fill a block. */
  const keepRest = (piece: Md5Piece) => {
    const rest = piece.bytes.subarray(piece.takenBytes);
    if (rest.length === 0 || rest.length >= MD5_BLOCK_BYTES) return;
    piece.md5.tail.set(rest);
    advance(piece, rest.length);
  };
  const takeBlocks = (pieces: readonly Md5Piece[], byteCount: number) => {
    const addresses = pieces.map(({ bytes, md5, takenBytes }, lane) => {
      load(md5, lane);
      return place(lane, bytes.subarray(takenBytes, takenBytes + byteCount));
    });
    const [first = 0, second = first, third = first, fourth = first] = addresses;
    if (pieces.length === 1) loops.one(first, first + byteCount);
    else loops.four(first, second, third, fourth, first + byteCount);
    pieces.forEach((piece, lane) => {
      save(piece.md5, lane);
      advance(piece, byteCount);
    });
  };

  return {
    start: () => ({
      state: Uint32Array.from(INITIAL),
      tail: new Uint8Array(MD5_BLOCK_BYTES),
      totalBytes: 0,
    }),
    take(pieces) {
      pieces.forEach(fillTail);
      const byteCount = Math.min(LANE_BYTES, ...pieces.map(wholeBlocksBytes));
      if (byteCount > 0) takeBlocks(pieces, byteCount);
      pieces.forEach(keepRest);
    },
    end(md5) {
      takeOne(md5, lastBlocks(md5));
      return new Uint8Array(md5.state.slice().buffer);
    },
  };
}

function wholeBlocksBytes({ bytes, takenBytes }: Md5Piece): number {
  return Math.floor((bytes.length - takenBytes) / MD5_BLOCK_BYTES) * MD5_BLOCK_BYTES;
}

/** The rest of the message, padded as in RFC 1321, sections 3.1 and 3.2. */
function lastBlocks({ tail, totalBytes }: RunningMd5): Uint8Array {
  const filled = totalBytes % MD5_BLOCK_BYTES;
  const blocks = filled < LENGTH_AT ? 1 : 2;
  const last = new Uint8Array(blocks * MD5_BLOCK_BYTES);
  last.set(tail.subarray(0, filled));
  last[filled] = 0x80;
  const bits = BigInt(totalBytes) * 8n;
  new DataView(last.buffer).setBigUint64(last.length - 8, BigInt.asUintN(64, bits), true);
  return last;
}

function advance(piece: Md5Piece, byteCount: number): void {
  piece.takenBytes += byteCount;
  piece.md5.totalBytes += byteCount;
}
