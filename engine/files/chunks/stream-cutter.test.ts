import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createChunker, openChunkerTools } from './chunker.ts';
import { CHUNKER_MEMORY_START, createChunkerMemory, viewMemory } from './chunker-memory.ts';
import { createStreamCutter } from './stream-cutter.ts';

const chunkSize = { min: 16_384, average: 65_536, max: 262_144 };

/** The same bytes each time, without a pattern. */
function content(bytes: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(bytes / 32) }, (_, at) =>
    createHash('sha256').update(`${at}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, bytes);
}

/** The cuts of the whole at once. */
function cutsOf(bytes: Buffer): number[] {
  const memory = createChunkerMemory(bytes.length);
  const all = viewMemory(memory, CHUNKER_MEMORY_START, bytes.length);
  all.set(bytes);
  const chunker = createChunker(chunkSize, openChunkerTools(memory));
  const cuts: number[] = [];
  for (let at = 0; ; ) {
    at = chunker.findCut(all, at, bytes.length);
    if (at < 0) return [...cuts, bytes.length];
    cuts.push(at);
  }
}

describe('the chunks of content that arrives in pieces', () => {
  it.each([1_000, 65_536, 3_000_000])('are those of the whole: pieces of %i bytes', (pieceBytes) => {
    const bytes = content(3_000_000);
    const cutter = createStreamCutter({ chunkSize });
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += pieceBytes)
      for (const chunk of cutter.add(bytes.subarray(at, at + pieceBytes))) chunks.push(chunk.bytes);
    for (const { bytes: last, hash } of cutter.finish()) {
      chunks.push(last);
      expect(hash).toBe(createHash('sha256').update(last).digest('hex'));
    }
    let end = 0;
    expect(chunks.map((chunk) => (end += chunk.length))).toEqual(cutsOf(bytes));
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  });
});
