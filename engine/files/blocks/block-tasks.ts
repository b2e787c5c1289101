/** The tasks that threads do with blocks of files: plain data for messages. */
import type { BlockSignature } from '../../checksums/block-digest.ts';
import { type RangeList, totalBytes } from '../../model/delta-sides.ts';
import type { ChunkSize } from '../chunks/chunker.ts';

export interface BlockFile {
  readonly path: string;
  /**
   * A descriptor of this process, open until the task ends. Without it the path is opened, never through a
   * link.
   */
  readonly descriptor?: number;
}

export type BlockTask =
  /** Digests of the blocks of one range. */
  | {
      readonly kind: 'hash';
      readonly file: BlockFile;
      readonly start: number;
      readonly end: number;
      readonly signature: BlockSignature;
      /** The file is being written, so a change is not a failure. */
      readonly mayChange: boolean;
    }
  /**
   * Reads the ranges into shared memory, concatenated; with a signature also returns the digests of their
   * blocks.
   */
  | {
      readonly kind: 'read';
      readonly file: BlockFile;
      readonly ranges: RangeList;
      readonly into: Uint8Array;
      readonly signature: BlockSignature | undefined;
    }
  /** Writes the ranges and returns the digests of the written blocks. */
  | {
      readonly kind: 'write';
      readonly file: BlockFile;
      readonly ranges: RangeList;
      readonly bytes: Uint8Array;
      readonly signature: BlockSignature;
    }
  /** `moves`: [from, to, length, ...]. */
  | {
      readonly kind: 'copy';
      readonly from: BlockFile;
      readonly to: BlockFile;
      readonly moves: RangeList;
    }
  /** Cuts one range by content, as if the file began and ended there. */
  | {
      readonly kind: 'cut';
      readonly file: BlockFile;
      readonly start: number;
      readonly end: number;
      readonly size: ChunkSize;
      /** `blockBytes` is at least `size.max`. */
      readonly signature: BlockSignature;
    };

/** `digests` is empty for tasks without them; only `cut` returns `lengths`. */
export interface BlockResult {
  readonly digests: Uint8Array<ArrayBuffer>;
  readonly lengths?: Uint32Array<ArrayBuffer>;
}

/** About how many bytes the task processes. */
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
