/**
 * Decoded segments of manifests, for readers that come back to the same ones. A segment never changes, so
 * nothing here becomes stale.
 */
import { LRUCache } from 'lru-cache';
import { orAborted } from '../../base/abort.ts';
import type { Entry } from '../../model/entry.ts';
import type { SegmentRef } from '../../repository/manifest/manifest.ts';
import type { SegmentReader } from '../../repository/manifest/read-entries.ts';

/** Entries, and chunks of large files, in memory at once: about 60 MB. */
const ROWS_MAX = 150_000;

/**
 * Reads by `read` what is not here. Concurrent readers of one segment share one request. Who aborts does not
 * wait for it any more.
 */
export function createSegmentCache(
  read: (segment: SegmentRef) => Promise<readonly Entry[]>,
  rowsMax = ROWS_MAX,
): SegmentReader {
  const cache = new LRUCache<string, readonly Entry[], SegmentRef>({
    maxSize: rowsMax,
    // One that is larger than the cache would not be kept at all.
    sizeCalculation: (entries) => Math.min(rowsMax, 1 + rowsOf(entries)),
    fetchMethod: (_hash, _stale, { context }) => read(context),
    ignoreFetchAbort: true,
  });
  return async (segment, { signal } = {}) =>
    cache.get(segment.hash) ?? (await orAborted(cache.fetch(segment.hash, { context: segment }), signal))!;
}

function rowsOf(entries: readonly Entry[]): number {
  let rows = 0;
  for (const entry of entries)
    rows += entry.kind === 'file' && entry.location.in === 'chunks' ? 1 + entry.location.chunks.length : 1;
  return rows;
}
