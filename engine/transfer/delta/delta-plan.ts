/** Compares the digests of both ends and plans which bytes travel. Pure. */
import type { DeltaChunks, DeltaStart, MoveList, RangeList } from '../../model/delta-sides.ts';

/** Longer ranges are split, since a range is read, sent and written as a whole. */
export const DELTA_RANGE_BYTES_MAX = 4 * 1024 * 1024;

export interface SegmentDigests {
  /** Half open, in bytes. `start` begins a block; `end` begins one too, or is the end of the source. */
  readonly start: number;
  readonly end: number;
  readonly blockBytes: number;
  readonly digestBytes: number;
  readonly source: Uint8Array;
  /** The digests of the same blocks, up to the end of the old file. */
  readonly target: Uint8Array;
  readonly targetEnd: number;
  /** The digest of a whole block of zeros. */
  readonly zero: Uint8Array;
  readonly starts: DeltaStart;
}

export interface SegmentPlan {
  /** Ranges to send: joined where they touch, split at the last block border in `DELTA_RANGE_BYTES_MAX`. */
  readonly different: RangeList;
  /** Moves from the old file. Empty if the new file begins as a copy of it. */
  readonly copied: MoveList;
  /** Ranges that are zeros at the source and other bytes at the target, which clears them. */
  readonly cleared: RangeList;
  readonly differentBytes: number;
  /** All bytes that are not sent. */
  readonly sameBytes: number;
  /** The part of `sameBytes` that is zeros at the source. */
  readonly zeroBytes: number;
}

type Fate = 'different' | 'same' | 'zeros' | 'cleared';

export function planSegment(segment: SegmentDigests): SegmentPlan {
  const { blockBytes, end, start, starts } = segment;
  const fateOf = compareBlocks(segment);
  const different = createRanges(Math.max(1, Math.floor(DELTA_RANGE_BYTES_MAX / blockBytes)) * blockBytes);
  const copied = createRanges(Number.POSITIVE_INFINITY);
  const cleared = createRanges(Number.POSITIVE_INFINITY);
  let zeroBytes = 0;
  for (let at = start, index = 0; at < end; at += blockBytes, index += 1) {
    const blockEnd = Math.min(at + blockBytes, end);
    const fate = fateOf(index, at, blockEnd);
    if (fate === 'different') different.add(at, blockEnd);
    else if (fate === 'cleared') cleared.add(at, blockEnd);
    else if (fate === 'zeros') zeroBytes += blockEnd - at;
    else if (starts === 'zeros') copied.add(at, blockEnd);
  }
  const differentBytes = different.bytes();
  return {
    different: different.list(),
    copied: movesInPlace(copied.list()),
    cleared: cleared.list(),
    differentBytes,
    sameBytes: end - start - differentBytes,
    zeroBytes: zeroBytes + cleared.bytes(),
  };
}

/** Compares digests in 32-bit words: the length of every digest is a multiple of four bytes. */
function compareBlocks(segment: SegmentDigests): (index: number, at: number, blockEnd: number) => Fate {
  const { blockBytes, digestBytes, starts, targetEnd } = segment;
  const [source, target, zero] = [segment.source, segment.target, segment.zero].map(wordsOf) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  const words = digestBytes / Uint32Array.BYTES_PER_ELEMENT;
  const isEqual = (at: number, other: Uint32Array, otherAt: number) => {
    for (let word = 0; word < words; word += 1) {
      if (source[at + word] !== other[otherAt + word]) return false;
    }
    return true;
  };
  return (index, at, blockEnd) => {
    const word = words * index;
    const isWhole = blockEnd - at === blockBytes;
    // A new file that starts as a copy of the old one reads as zeros only beyond the end of the old one.
    const beginsZero = starts === 'zeros' || at >= targetEnd;
    const isZeros = isWhole && isEqual(word, zero, 0);
    if (beginsZero && isZeros) return 'zeros';
    const targetBlockEnd = Math.min(at + blockBytes, targetEnd);
    const isThere = at < targetEnd && targetBlockEnd === blockEnd;
    if (isThere && isEqual(word, target, word)) return 'same';
    return isZeros ? 'cleared' : 'different';
  };
}

function wordsOf(digests: Uint8Array): Uint32Array {
  const aligned = digests.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0 ? digests : digests.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / Uint32Array.BYTES_PER_ELEMENT);
}

interface Ranges {
  /** Call in ascending order. */
  add(start: number, end: number): void;
  bytes(): number;
  list(): RangeList;
}

function createRanges(lengthMax: number): Ranges {
  const list: number[] = [];
  let bytes = 0;
  return {
    add(start, end) {
      bytes += end - start;
      const last = list.length - 1;
      if (last > 0 && list[last] === start && end - list[last - 1]! <= lengthMax) list[last] = end;
      else list.push(start, end);
    },
    bytes: () => bytes,
    list: () => Float64Array.from(list),
  };
}

function movesInPlace(ranges: RangeList): MoveList {
  const moves: number[] = [];
  for (let at = 0; at < ranges.length; at += 2)
    moves.push(ranges[at]!, ranges[at]!, ranges[at + 1]! - ranges[at]!);
  return Float64Array.from(moves);
}

export interface RangeBatch {
  readonly ranges: RangeList;
  readonly bytes: number;
}

/** Groups ranges that travel together, up to `bytesMax`. A longer range makes a batch of its own. */
export function batchRanges(ranges: RangeList, bytesMax: number): RangeBatch[] {
  const batches: RangeBatch[] = [];
  let first = 0;
  let bytes = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const length = ranges[at + 1]! - ranges[at]!;
    if (at > first && bytes + length > bytesMax) {
      batches.push({ ranges: ranges.slice(first, at), bytes });
      first = at;
      bytes = 0;
    }
    bytes += length;
  }
  if (first < ranges.length) batches.push({ ranges: ranges.slice(first), bytes });
  return batches;
}

export interface ContentPlan {
  /** One range for each chunk, so that each range has one digest. */
  readonly sent: RangeList;
  /** Joined where they touch in both files. */
  readonly copied: MoveList;
  /** The digests of the chunks to send, in order. */
  readonly digests: Uint8Array;
  readonly sentBytes: number;
  readonly copiedBytes: number;
}

/** Uses about 100 bytes of memory for each chunk of the old file. */
export function planContent(source: DeltaChunks, target: DeltaChunks, digestBytes: number): ContentPlan {
  const places = placesByDigest(target, digestBytes);
  const sent: number[] = [];
  const moves: number[] = [];
  const digests: Uint8Array[] = [];
  let sentBytes = 0;
  let at = 0;
  for (let chunk = 0; chunk < source.lengths.length; chunk += 1) {
    const length = source.lengths[chunk]!;
    const from = places.get(nameOf(source, chunk, digestBytes));
    if (from === undefined) {
      sent.push(at, at + length);
      digests.push(source.digests.subarray(chunk * digestBytes, (chunk + 1) * digestBytes));
      sentBytes += length;
    } else addMove(moves, from, at, length);
    at += length;
  }
  return {
    sent: Float64Array.from(sent),
    copied: Float64Array.from(moves),
    digests: Buffer.concat(digests),
    sentBytes,
    copiedBytes: at - sentBytes,
  };
}

/** The length is part of the name, so chunks of different lengths never match. */
function nameOf({ digests, lengths }: DeltaChunks, chunk: number, digestBytes: number): string {
  const start = digests.byteOffset + chunk * digestBytes;
  return `${Buffer.from(digests.buffer, start, digestBytes).toString('latin1')}${lengths[chunk]}`;
}

function placesByDigest(chunks: DeltaChunks, digestBytes: number): Map<string, number> {
  const places = new Map<string, number>();
  let at = 0;
  for (let chunk = 0; chunk < chunks.lengths.length; chunk += 1) {
    places.set(nameOf(chunks, chunk, digestBytes), at);
    at += chunks.lengths[chunk]!;
  }
  return places;
}

function addMove(moves: number[], from: number, to: number, length: number): void {
  const last = moves.length - 3;
  const touches =
    last >= 0 && moves[last]! + moves[last + 2]! === from && moves[last + 1]! + moves[last + 2]! === to;
  if (touches) moves[last + 2] = moves[last + 2]! + length;
  else moves.push(from, to, length);
}
