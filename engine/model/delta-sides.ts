/**
 * The two ends of a block delta, on this machine or at a peer. Both sign the same ranges with the same
 * `BlockSignature`, which they got when they were opened. Offsets and lengths are bytes. Calls may run
 * concurrently; they throw only `DrayError`.
 */

/** Half-open ranges of a file in ascending order, as pairs: [start, end, start, end, ...]. */
export type RangeList = Float64Array<ArrayBuffer>;

/** [from, to, length, ...]: `length` bytes at `from` in the old file equal those at `to` in the new one. */
export type MoveList = Float64Array<ArrayBuffer>;

/**
 * The chunk sizes of both ends: small enough that one changed byte costs little, large enough that the list
 * of a terabyte fits.
 */
export const DELTA_CHUNK_SIZE = { min: 16 * 1024, average: 64 * 1024, max: 256 * 1024 } as const;

/** The chunks that a file was cut into by content, in order. */
export interface DeltaChunks {
  readonly lengths: Uint32Array;
  /** One digest for each chunk, concatenated. */
  readonly digests: Uint8Array;
}

export interface DeltaSource {
  readonly sizeBytes: number;
  /**
   * The digests of the blocks from `start`, which begins a block, to `end`, concatenated. The last block may
   * be shorter.
   */
  sign(start: number, end: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Cuts the whole file into chunks by content. */
  cut(signal: AbortSignal): Promise<DeltaChunks>;
  /**
   * Reads the ranges into shared memory of exactly their total length. With `wish.sign`, resolves to the
   * digests of the blocks read (each range begins a block).
   */
  read(
    ranges: RangeList,
    into: Uint8Array,
    wish: { readonly sign: boolean; readonly signal: AbortSignal },
  ): Promise<Uint8Array | undefined>;
  /** @throws `io`, reason `changedWhileRead`, when the file changed since it was opened. */
  checkUnchanged(): Promise<void>;
}

/** A source for which the other end knows attributes besides its bytes. */
export interface DeltaFile extends DeltaSource {
  readonly mtimeNs: bigint;
  /** Permission bits. */
  readonly mode: number;
  /** The token that a listing there gives it, '' when nothing identifies the content. */
  readonly token: string;
  /** Call it when no other call is in flight. */
  close(): void | Promise<void>;
}

/**
 * The initial content of a new file where nothing is written. `old`: the old file's bytes, then zeros beyond
 * its end. `zeros`: zeros, so every range to keep has to be copied from the old file.
 */
export type DeltaStart = 'old' | 'zeros';

export interface DeltaTarget {
  /** The size of the file before the delta; 0 when it does not exist. */
  readonly oldBytes: number;
  /** The delta overwrites the old file itself. */
  readonly isInPlace: boolean;
  /**
   * Signs blocks of the old file, up to `oldBytes`, as the source does. A range is signed before anything in
   * it is written.
   */
  sign(start: number, end: number, signal: AbortSignal): Promise<Uint8Array>;
  cut(signal: AbortSignal): Promise<DeltaChunks>;
  /**
   * Call once, before the first `write` and `copy`; not in a dry run. `keepsOld` false: nothing of the old
   * file is reused.
   */
  begin(wish: { readonly sizeBytes: number; readonly keepsOld: boolean }): Promise<DeltaStart>;
  /**
   * Resolves to the digests of the blocks as they arrived (each range begins a block), which the sender
   * compares.
   */
  write(ranges: RangeList, bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /** Makes whole blocks zero, as holes where possible: zeros of the source are not sent. */
  clear(ranges: RangeList, signal: AbortSignal): Promise<void>;
  /** Copies from the old file; never called when the delta overwrites it. */
  copy(moves: MoveList, signal: AbortSignal): Promise<void>;
  /**
   * Puts the new file in place. Returns its token as a listing there gives it, '' when nothing identifies the
   * content.
   * @throws `io`, reason `changedWhileRead`, when the old file changed during the delta and was reused.
   */
  complete(): Promise<string>;
  /**
   * Removes everything but the old file, which stays as it is, or partly overwritten for an in-place delta.
   * Also call it after a failure.
   */
  discard(): Promise<void>;
}

/** The total length of all ranges. */
export function totalBytes(ranges: RangeList): number {
  let total = 0;
  for (let at = 0; at < ranges.length; at += 2) total += ranges[at + 1]! - ranges[at]!;
  return total;
}
