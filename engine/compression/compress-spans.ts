/** The work of one message to a thread that compresses. */
import type { Compression } from '../model/layout.ts';
import { compressBlob } from './zstd-blob.ts';

export interface CompressTask {
  readonly compression: Compression;
  readonly memory: SharedArrayBuffer;
  /** Offset and length of each blob. */
  readonly spans: Float64Array;
}

/** Puts each frame in the place of its blob's start. @returns The bytes of each to store. */
export function compressSpans({ compression, memory, spans }: CompressTask): Float64Array {
  const stored = new Float64Array(spans.length / 2);
  for (let index = 0; index < stored.length; index += 1) {
    const content = new Uint8Array(memory, spans[2 * index], spans[2 * index + 1]);
    const frame = compressBlob(content, compression);
    if (frame) content.set(frame);
    stored[index] = frame?.length ?? content.length;
  }
  return stored;
}
