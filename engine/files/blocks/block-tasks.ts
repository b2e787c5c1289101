/** What threads do with blocks of files: plain data both sides of a thread's border know. */
import type { BlockSignature } from '../../checksums/block-digest.ts';
import { type RangeList, totalBytes } from '../../model/delta-sides.ts';
import type { ChunkSize } from '../chunks/chunker.ts';

export interface BlockFile {
  readonly path: string;
  /** Of this process, open until the task has ended. Without it the path is opened, never through a link. */
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
      /** The file is being written: that it changes is no failure. */
      readonly mayChange: boolean;
    }
  /** The ranges' bytes, one after another, into shared memory; with a signature also the digests of their blocks. */
  | {
      readonly kind: 'read';
      readonly file: BlockFile;
      readonly ranges: RangeList;
      readonly into: Uint8Array;
      readonly signature: BlockSignature | undefined;
    }
  /** The other way round, with the digests of what was written. */
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

/** `digests` is empty for tasks that give none; `lengths` is there for `cut` alone. */
export interface BlockResult {
  readonly digests: Uint8Array<ArrayBuffer>;
  readonly lengths?: Uint32Array<ArrayBuffer>;
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
