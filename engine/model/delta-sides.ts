/**
 * The two ends of a block delta: here, or at a peer. Both sign the same ranges by the same `BlockSignature`, which they were opened
 * with. Offsets and lengths are bytes. Calls may run beside each other; what they throw is a `DrayError`.
 */

/** Half open ranges of a file in ascending order, one pair after another: [start, end, start, end, ...]. */
export type RangeList = Float64Array<ArrayBuffer>;

/** [from, to, length, ...]: `length` bytes at `from` in the old file are those at `to` in the new one. */
export type MoveList = Float64Array<ArrayBuffer>;

/** How both ends cut: small enough that one changed byte costs little, large enough that a terabyte is listed. */
export const DELTA_CHUNK_SIZE = { min: 16 * 1024, average: 64 * 1024, max: 256 * 1024 } as const;

/** What a file was cut into by content, in order. */
export interface DeltaChunks {
  readonly lengths: Uint32Array;
  /** One for each chunk, one after another. */
  readonly digests: Uint8Array;
}

export interface DeltaSource {
  readonly sizeBytes: number;
  /** Digests of the blocks from `start`, which begins one, to `end`, one after another. The last may be shorter. */
  sign(start: number, end: number, signal: AbortSignal): Promise<Uint8Array>;
  /** The whole file by content. */
  cut(signal: AbortSignal): Promise<DeltaChunks>;
  /**
   * The ranges' bytes, one after another, into shared memory that is exactly as long. `wish.sign`: resolves to the digests of the
   * blocks that were read (each range begins one), else to nothing.
   */
  read(
    ranges: RangeList,
    into: Uint8Array,
    wish: { readonly sign: boolean; readonly signal: AbortSignal },
  ): Promise<Uint8Array | undefined>;
  /** @throws `io`, reason `changedWhileRead`, when the file is not what it was when it was opened. */
  checkUnchanged(): Promise<void>;
}

/** Of which the other end knows more than its bytes. */
export interface DeltaFile extends DeltaSource {
  readonly mtimeNs: bigint;
  /** Permission bits. */
  readonly mode: number;
  /** As a listing there tells it, '' when nothing vouches. */
  readonly token: string;
  /** When nothing is under way. */
  close(): void | Promise<void>;
}

/**
 * What is not written of a new file: `old`: it is as in the old file, and zeros beyond its end; `zeros`: it is zeros, and what is to be
 * kept of the old file has to be copied.
 */
export type DeltaStart = 'old' | 'zeros';

export interface DeltaTarget {
  /** Of the file as it is before; 0 when there is none. */
  readonly oldBytes: number;
  /** The old file itself is overwritten. */
  readonly isInPlace: boolean;
  /** As at the source, of the old file: up to `oldBytes`. A range is signed before anything in it is written. */
  sign(start: number, end: number, signal: AbortSignal): Promise<Uint8Array>;
  cut(signal: AbortSignal): Promise<DeltaChunks>;
  /** Once, before the first `write` and `copy`; not for a dry run. `keepsOld` false: nothing of the old file is of use. */
  begin(wish: { readonly sizeBytes: number; readonly keepsOld: boolean }): Promise<DeltaStart>;
  /** Resolves to the digests of the blocks as they arrived here (each range begins one): whoever sent them compares. */
  write(ranges: RangeList, bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /** Makes zeros of whole blocks, holes where that can be: what is zeros at the source does not travel. */
  clear(ranges: RangeList, signal: AbortSignal): Promise<void>;
  /** Out of the old file; never asked for where that is overwritten. */
  copy(moves: MoveList, signal: AbortSignal): Promise<void>;
  /**
   * Puts the new file in place. Its token as a listing there tells it, '' when nothing vouches.
   * @throws `io`, reason `changedWhileRead`, when the old file changed meanwhile and was of use.
   */
  complete(): Promise<string>;
  /** Leaves the old file as it is (where it is overwritten: as it has become), and nothing beside it. Also after a failure. */
  discard(): Promise<void>;
}

/** The lengths of all ranges together. */
export function totalBytes(ranges: RangeList): number {
  let total = 0;
  for (let at = 0; at < ranges.length; at += 2) total += ranges[at + 1]! - ranges[at]!;
  return total;
}
