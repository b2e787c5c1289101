/** Reads the entries of a commit in order, and only the segments that it needs. */
import { checkAborted } from '../../base/abort.ts';
import { firstIndexWhere } from '../../base/sorted-search.ts';
import { comparePaths, type Entry } from '../../model/entry.ts';
import type { Scope } from '../../model/scope.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import type { Manifest, SegmentRef } from './manifest.ts';
import { readSegment } from './stored-segment.ts';

export interface ReadEntriesOptions extends CallOptions {
  /** Only entries at this path or after it. */
  readonly from?: string;
  /** Only entries whose path starts with this. For a folder, end it in `/`. */
  readonly prefix?: string;
  /** Only entries that it holds. Segments without any are not read where that is known. */
  readonly scope?: Pick<Scope, 'holds' | 'reachesBetween'> | undefined;
  /** Segments read concurrently, which also bounds memory. Default 4. */
  readonly prefetch?: number;
  /** Default: from the store. */
  readonly readSegment?: SegmentReader;
}

export type SegmentReader = (segment: SegmentRef, options: CallOptions) => Promise<readonly Entry[]>;

const PREFETCH = 4;

/**
 * The entries in byte order of their paths, in batches that are never empty. No request for an inline
 * manifest, otherwise one for each segment. Leaving the loop early stops the reads ahead.
 * @throws `damaged` naming the segment, `formatTooNew`, `aborted`.
 */
export async function* readEntries(
  store: ObjectStore,
  commit: { readonly manifest: Manifest },
  options: ReadEntriesOptions = {},
): AsyncGenerator<readonly Entry[], void, undefined> {
  const { from = '', prefix = '', scope } = options;
  const low = comparePaths(from, prefix) > 0 ? from : prefix;
  const isPast = (path: string) => comparePaths(path, prefix) > 0 && !path.startsWith(prefix);
  for await (const entries of readAll(store, commit.manifest, low, isPast, options)) {
    const start = firstIndexWhere(entries, 0, (entry) => comparePaths(entry.path, low) >= 0);
    const end = firstIndexWhere(entries, start, (entry) => isPast(entry.path));
    const found = start === 0 && end === entries.length ? entries : entries.slice(start, end);
    const held = scope ? found.filter(({ path }) => scope.holds(path)) : found;
    if (held.length > 0) yield held;
  }
}

/** The entries of these segments, one batch for each, with a few read ahead concurrently. */
async function* readSegments(
  store: ObjectStore,
  segments: readonly SegmentRef[],
  options: Omit<ReadEntriesOptions, 'from' | 'prefix' | 'scope'> = {},
): AsyncGenerator<readonly Entry[], void, undefined> {
  const { prefetch = PREFETCH, readSegment: read = readFromStore, signal } = options;
  const stop = new AbortController();
  const call = { signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal };
  const ahead: Promise<readonly Entry[]>[] = [];
  function readFromStore(segment: SegmentRef, call: CallOptions): Promise<readonly Entry[]> {
    return readSegment(store, segment, call);
  }
  let next = 0;
  try {
    for (;;) {
      for (; next < segments.length && ahead.length < Math.max(1, prefetch); next += 1) {
        const reading = read(segments[next] as SegmentRef, call);
        // It is awaited later; until then, or after an early end, a failure must not count as unhandled.
        reading.catch(() => {});
        ahead.push(reading);
      }
      const first = ahead.shift();
      if (!first) return;
      checkAborted(signal);
      yield await first;
    }
  } finally {
    stop.abort();
  }
}

async function* readAll(
  store: ObjectStore,
  manifest: Manifest,
  low: string,
  isPast: (path: string) => boolean,
  options: ReadEntriesOptions,
): AsyncGenerator<readonly Entry[], void, undefined> {
  checkAborted(options.signal);
  if (manifest.kind === 'inline') {
    yield manifest.entries;
    return;
  }
  const { segments } = manifest;
  const start = firstIndexWhere(segments, 0, (segment) => comparePaths(segment.last, low) >= 0);
  const end = firstIndexWhere(segments, start, (segment) => isPast(segment.first));
  const { scope } = options;
  const wanted = segments.slice(start, end);
  yield* readSegments(
    store,
    scope ? wanted.filter(({ first, last }) => scope.reachesBetween(first, last)) : wanted,
    options,
  );
}
