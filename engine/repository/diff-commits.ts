/**
 * The changes between two commits, at a cost proportional to the changes.
 *
 * A segment that both commits name holds the same entries in both. No path lies in two segments of one
 * commit, so none of these paths occurs elsewhere. Shared segments are therefore skipped on both sides,
 * wherever they stand, and the rest is merged. This is exact without aligned boundaries.
 */
import type { Change } from '../model/diff.ts';
import { diffSortedBatches } from '../model/diff-sorted.ts';
import type { BlobLocation, Entry } from '../model/entry.ts';
import type { Scope } from '../model/scope.ts';
import type { CallOptions, ObjectStore } from '../remotes/object-store.ts';
import { EMPTY_MANIFEST, type Manifest } from './manifest/manifest.ts';
import { readEntries, type SegmentReader } from './manifest/read-entries.ts';

/**
 * Every path whose stored entry differs, including times and locations (`kindOfChange` selects what matters
 * to a user), in byte order, in batches that are never empty. Reads only segments that one side alone has.
 *
 * @param before Absent: everything is new. `readSegment` reads its segments, from the store by default.
 * @param options `scope`: only the paths that it holds
 * @throws `damaged` naming the segment, `formatTooNew`, `aborted`.
 */
export async function* diffCommits(
  store: ObjectStore,
  before: { readonly manifest: Manifest; readonly readSegment?: SegmentReader } | undefined,
  after: { readonly manifest: Manifest },
  options: CallOptions & { readonly prefetch?: number; readonly scope?: Scope | undefined } = {},
): AsyncGenerator<readonly Change[], void, undefined> {
  const old = before?.manifest ?? EMPTY_MANIFEST;
  const own = before?.readSegment ? { ...options, readSegment: before.readSegment } : options;
  const left = readEntries(store, { manifest: withoutSegmentsOf(old, after.manifest) }, own);
  const right = readEntries(store, { manifest: withoutSegmentsOf(after.manifest, old) }, options);
  yield* diffEntries(left, right);
}

/** The same of two streams of entries in order, none of them twice. */
export async function* diffEntries(
  before: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>,
  after: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<readonly Change[], void, undefined> {
  for await (const differences of diffSortedBatches(before, after, isStoredAlike)) {
    yield differences.map(({ path, left: before, right: after }) => ({
      path,
      ...(before && { before }),
      ...(after && { after }),
    }));
  }
}

function withoutSegmentsOf(manifest: Manifest, other: Manifest): Manifest {
  if (manifest.kind === 'inline' || other.kind === 'inline') return manifest;
  const shared = new Set(other.segments.map((segment) => segment.hash));
  return { kind: 'segments', segments: manifest.segments.filter((segment) => !shared.has(segment.hash)) };
}

/** Whether two entries of one path have the same stored form. */
function isStoredAlike(left: Entry, right: Entry): boolean {
  if (left.kind === 'folder') return right.kind === 'folder';
  if (left.kind === 'link') return right.kind === 'link' && left.target === right.target;
  return (
    right.kind === 'file' &&
    left.blob === right.blob &&
    left.sizeBytes === right.sizeBytes &&
    left.mtimeNs === right.mtimeNs &&
    left.executable === right.executable &&
    isSamePlace(left.location, right.location)
  );
}

/**
 * For one blob: the hash of a chunked file covers its chunks, so they need no comparison. `nowhere`: the file
 * is empty, or its place is not known.
 */
function isSamePlace(left: BlobLocation, right: BlobLocation): boolean {
  if (left.in === 'nowhere' || right.in === 'nowhere') return true;
  if (left.in !== 'pack' || right.in !== 'pack') return left.in === right.in;
  return left.pack === right.pack && left.offset === right.offset;
}
