/** Contents that were decompressed, for readers that come back for another part of the same one. */
import { LRUCache } from 'lru-cache';
import { orAborted } from '../../base/abort.ts';
import { Budget } from '../../base/budget.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { CallOptions } from '../../remotes/object-store.ts';

export interface DecodedContents {
  /** Concurrent calls for one blob share one read, which none of them can abort. */
  get(
    blob: { readonly hash: BlobHash; readonly sizeBytes: number },
    read: () => Promise<Uint8Array>,
    options: CallOptions,
  ): Promise<Uint8Array>;
}

/** @param bytesMax Of what is kept and what is being read together. One that is larger passes alone. */
export function createDecodedContents(bytesMax: number): DecodedContents {
  const memory = new Budget(bytesMax);
  const running = new Map<BlobHash, Promise<Uint8Array>>();
  const cache = new LRUCache<BlobHash, Uint8Array>({
    maxSize: bytesMax,
    sizeCalculation: ({ length }) => Math.max(1, length),
  });
  const readOne = async (hash: BlobHash, sizeBytes: number, read: () => Promise<Uint8Array>) => {
    using _permit = await memory.acquire(sizeBytes);
    while (cache.size > 0 && cache.calculatedSize + memory.used > bytesMax) cache.pop();
    const content = await read();
    cache.set(hash, content);
    return content;
  };
  return {
    async get({ hash, sizeBytes }, read, { signal }) {
      const kept = cache.get(hash);
      if (kept) return kept;
      let reading = running.get(hash);
      if (!reading) {
        reading = readOne(hash, sizeBytes, read).finally(() => running.delete(hash));
        // All who wait for it may be gone.
        reading.catch(() => {});
        running.set(hash, reading);
      }
      return orAborted(reading, signal);
    },
  };
}
