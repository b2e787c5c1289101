/** Contents that were decompressed, for readers that come back for another part of the same one. */
import { LRUCache } from 'lru-cache';
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

/** @param bytesMax Of what is kept, and again of what is being read. One that is larger passes alone. */
export function createDecodedContents(bytesMax: number): DecodedContents {
  const memory = new Budget(bytesMax);
  const cache = new LRUCache<BlobHash, Uint8Array, () => Promise<Uint8Array>>({
    maxSize: bytesMax,
    sizeCalculation: ({ length }) => Math.max(1, length),
    fetchMethod: (_hash, _stale, { context }) => context(),
    ignoreFetchAbort: true,
  });
  return {
    async get({ hash, sizeBytes }, read, { signal }) {
      const kept = cache.get(hash);
      if (kept) return kept;
      using _permit = await memory.acquire(sizeBytes, signal);
      return (await cache.fetch(hash, { context: read }))!;
    },
  };
}
