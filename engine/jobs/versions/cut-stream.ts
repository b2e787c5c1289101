/** Cuts a stream by content, as a push cuts a large file (`files/read/read-large.ts`). */
import { createChunker, openChunkerTools } from '../../files/chunks/chunker.ts';
import { CHUNKER_MEMORY_START, createChunkerMemory, viewMemory } from '../../files/chunks/chunker-memory.ts';
import { createCutter } from '../../files/read/read-large.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';

const PIECE_BYTES = 256 * 1024;

export interface StreamChunk {
  readonly hash: BlobHash;
  /** In shared memory of its own. */
  readonly bytes: Uint8Array;
}

/**
 * Yields the chunks in order, and returns the hash of the whole. Memory: one chunk of the largest size, and
 * the one that was yielded last.
 */
export async function* cutStream(
  body: AsyncIterable<Uint8Array>,
  { chunkSize, cutterKey }: Layout,
): AsyncGenerator<StreamChunk, BlobHash, undefined> {
  const bytesMax = chunkSize.max + PIECE_BYTES;
  const memory = createChunkerMemory(bytesMax, cutterKey);
  const view = viewMemory(memory, CHUNKER_MEMORY_START, bytesMax);
  const cutter = createCutter(createChunker(chunkSize, openChunkerTools(memory)));
  let filled = 0;
  function* takeChunks(): Generator<StreamChunk> {
    let at = 0;
    for (const { hash, sizeBytes } of cutter.takeChunks()) {
      yield { hash, bytes: toShared(view.subarray(at, at + sizeBytes)) };
      at += sizeBytes;
    }
    view.copyWithin(0, at, filled);
    filled -= at;
  }
  for await (const piece of body) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      const part = piece.subarray(at, at + PIECE_BYTES);
      view.set(part, filled);
      cutter.add(view, filled, filled + part.length);
      filled += part.length;
      yield* takeChunks();
    }
  }
  const hash = cutter.finish();
  yield* takeChunks();
  return hash;
}

/** A copy that threads can compress in place. */
function toShared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
