/** The name of a file that is stored as chunks. */
import { createHash } from 'node:crypto';
import type { BlobHash, Chunk } from '../../model/entry.ts';

/**
 * SHA-256 over the chunks' raw digests (32 bytes each) in order. Equal chunks give equal names, no file is
 * read again, and the name differs from that of any blob stored whole.
 */
export function hashOfChunks(chunks: readonly Chunk[]): BlobHash {
  const sum = createHash('sha256');
  for (const chunk of chunks) sum.update(chunk.hash, 'hex');
  return sum.digest('hex') as BlobHash;
}
