/** What threads do with blocks of files: plain data both sides of a thread's border know. */
import type { BlockSignature } from '../base/block-digest.ts';
import type { ChunkSize } from './chunker.ts';

/** Half open ranges of a file, one pair after another: [start, end, start, end, ...]. */
export type RangeList = Float64Array<ArrayBuffer>;

/** A path, or a descriptor of this process that stays open meanwhile. */
export type FileOrDescriptor = string | number;

export type BlockTask =
  /** Digests of the blocks of one range. */
  | {
      readonly kind: 'hash';
      readonly file: FileOrDescriptor;
      readonly start: number;
      readonly end: number;
      readonly signature: BlockSignature;
      /** The file is being written: that it changes is no failure. */
      readonly mayChange: boolean;
    }
  /** The ranges' bytes, one after another, into shared memory; with a signature also the digests of their blocks. */
  | {
      readonly kind: 'read';
      readonly file: FileOrDescriptor;
      readonly ranges: RangeList;
      readonly into: Uint8Array;
      readonly signature: BlockSignature | undefined;
    }
  /** The other way round, with the digests of what was written. */
  | {
      readonly kind: 'write';
      readonly file: FileOrDescriptor;
      readonly ranges: RangeList;
      readonly bytes: Uint8Array;
      readonly signature: BlockSignature;
    }
  /** `moves`: [from, to, length, ...]. */
  | {
      readonly kind: 'copy';
      readonly from: FileOrDescriptor;
      readonly to: FileOrDescriptor;
      readonly moves: RangeList;
    }
  /** Cuts one range by content, as if the file began and ended there. */
  | {
      readonly kind: 'cut';
      readonly file: FileOrDescriptor;
      readonly start: number;
      readonly end: number;
      readonly size: ChunkSize;
      /** `blockBytes` is at least `size.max`. */
      readonly signature: BlockSignature;
    };

export interface CutChunks {
  readonly lengths: Uint32Array<ArrayBuffer>;
  /** One for each chunk. */
  readonly digests: Uint8Array<ArrayBuffer>;
}

/** `digests` is empty for tasks that give none; `lengths` is there for `cut` alone. */
export interface BlockResult {
  readonly digests: Uint8Array<ArrayBuffer>;
  readonly lengths?: Uint32Array<ArrayBuffer>;
}

/** The lengths of all ranges together. */
export function totalBytes(ranges: RangeList): number {
  let total = 0;
  for (let at = 0; at < ranges.length; at += 2) total += ranges[at + 1]! - ranges[at]!;
  return total;
}

/** About how many bytes the task goes through. */
export function workOf(task: BlockTask): number {
  switch (task.kind) {
    case 'hash':
    case 'cut':
      return task.end - task.start;
    case 'read':
    case 'write':
      return totalBytes(task.ranges);
    case 'copy': {
      let total = 0;
      for (let at = 2; at < task.moves.length; at += 3) total += task.moves[at]!;
      return total;
    }
  }
}
