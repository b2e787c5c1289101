/** Cuts content into chunks as it arrives, where a push of the same file cuts it. */
import { createHash } from 'node:crypto';
import type { BlobHash } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';
import { createChunker, openChunkerTools } from './chunker.ts';
import { CHUNKER_MEMORY_START, createChunkerMemory, viewMemory } from './chunker-memory.ts';

/** The most bytes that the chunker gets at once. */
const PIECE_BYTES = 1024 * 1024;

export interface CutChunk {
  readonly hash: BlobHash;
  /** In memory of its own. */
  readonly bytes: Uint8Array;
}

export interface StreamCutter {
  /** Yields the chunks that end in these bytes. */
  add(bytes: Uint8Array): Generator<CutChunk>;
  /** Yields the last chunk. */
  finish(): Generator<CutChunk>;
}

/** @param copyOf Makes the memory of a chunk. */
export function createStreamCutter(
  { chunkSize, cutterKey }: Pick<Layout, 'chunkSize' | 'cutterKey'>,
  copyOf: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes.slice(),
): StreamCutter {
  // The open chunk lies at the start; it is shorter than the largest one.
  const blockBytes = chunkSize.max + PIECE_BYTES;
  const memory = createChunkerMemory(blockBytes, cutterKey);
  const block = viewMemory(memory, CHUNKER_MEMORY_START, blockBytes);
  const chunker = createChunker(chunkSize, openChunkerTools(memory));
  let [start, filled] = [0, 0];
  const chunkTo = (end: number): CutChunk => {
    const bytes = copyOf(block.subarray(start, end));
    start = end;
    return { hash: createHash('sha256').update(bytes).digest('hex') as BlobHash, bytes };
  };
  return {
    *add(bytes) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        if (filled + piece.length > blockBytes) {
          block.copyWithin(0, start, filled);
          [start, filled] = [0, filled - start];
        }
        block.set(piece, filled);
        const end = filled + piece.length;
        for (let from = filled; from < end; ) {
          const cut = chunker.findCut(block, from, end);
          if (cut < 0) break;
          yield chunkTo(cut);
          from = cut;
        }
        filled = end;
      }
    },
    *finish() {
      if (filled > start) yield chunkTo(filled);
    },
  };
}
