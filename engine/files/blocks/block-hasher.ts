/**
 * Computes the digests of a file's blocks, or of its chunks by content, on all threads: long ranges are
 * divided among them.
 */
import type { BlockSignature } from '../../checksums/block-digest.ts';
import type { DeltaChunks } from '../../model/delta-sides.ts';
import type { ChunkSize } from '../chunks/chunker.ts';
import type { BlockFile } from './block-tasks.ts';
import type { BlockThreads } from './block-threads.ts';

export interface HashBlocks {
  readonly file: BlockFile;
  /** Half-open, in bytes. The end is within the file. */
  readonly start: number;
  readonly end: number;
  readonly signature: BlockSignature;
  /** The file is being written, so a change is not a failure. */
  readonly mayChange?: boolean;
}

export interface CutFile extends Omit<HashBlocks, 'mayChange'> {
  readonly size: ChunkSize;
}

export interface BlockHasher {
  /**
   * The digests of the blocks, concatenated; the last block may be shorter.
   * @throws `io` as file sources do: `changedWhileRead` when the file changed since it was opened, or is too
   * short.
   */
  hash(wish: HashBlocks): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Chunks that add up to the range. Each stretch of `CUT_STRETCH_BYTES` is cut as a file of its own, so that
   * several threads can work: an inserted byte changes a chunk or two more in each stretch.
   */
  cut(wish: CutFile): Promise<DeltaChunks>;
}

/** The size of one task for a thread; rounded to whole blocks. */
const TASK_BYTES = 16 * 1024 * 1024;
/** Both ends of a delta must use the same value. */
const CUT_STRETCH_BYTES = 64 * 1024 * 1024;

/** Runs on threads that do other work too. */
export function blockHasherOn(threads: BlockThreads): BlockHasher {
  return {
    async hash({ end, file, mayChange = false, signature, start }) {
      const taskBytes = Math.ceil(TASK_BYTES / signature.blockBytes) * signature.blockBytes;
      const results = await Promise.all(
        stretches(start, end, taskBytes).map((range) =>
          threads.run({ kind: 'hash', file, ...range, signature, mayChange }),
        ),
      );
      return joined(results.map(({ digests }) => digests));
    },
    async cut({ end, file, signature: { hash, seed }, size, start }) {
      const signature = { hash, seed, blockBytes: size.max };
      const results = await Promise.all(
        stretches(start, end, CUT_STRETCH_BYTES).map((range) =>
          threads.run({ kind: 'cut', file, ...range, size, signature }),
        ),
      );
      return {
        lengths: Uint32Array.from(results.flatMap(({ lengths }) => [...lengths!])),
        digests: joined(results.map(({ digests }) => digests)),
      };
    },
  };
}

function stretches(start: number, end: number, lengthBytes: number): { start: number; end: number }[] {
  const count = Math.ceil((end - start) / lengthBytes);
  return Array.from({ length: count }, (_, index) => {
    const from = start + index * lengthBytes;
    return { start: from, end: Math.min(from + lengthBytes, end) };
  });
}

function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  return parts.length === 1 ? parts[0]! : new Uint8Array(Buffer.concat(parts));
}
