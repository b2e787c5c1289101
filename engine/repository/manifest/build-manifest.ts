/**
 * Applies changes to a manifest, at a cost proportional to the changes.
 *
 * Invariant: if the base was cut by the rule of `segment-cutter.ts`, as every manifest made here is, the
 * result is exactly the manifest of the complete new entry list, entries and cuts alike. Segments can be
 * reused unread because a cut depends only on the entries since the previous cut: where a new cut falls on an
 * old one and no change follows, the old cuts follow too.
 *
 * Memory: one segment, the few being loaded or stored, a batch of changes, and the list of segments.
 */
import assert from 'node:assert/strict';
import { checkAborted } from '../../base/abort.ts';
import { firstIndexWhere } from '../../base/sorted-search.ts';
import { comparePaths, type Entry } from '../../model/entry.ts';
import { ChangeCursor } from './change-cursor.ts';
import {
  EMPTY_MANIFEST,
  type EntryChange,
  entryCount,
  type Manifest,
  type SegmentRef,
  type Totals,
  totalsOfManifest,
} from './manifest.ts';
import { ManifestOutput } from './manifest-output.ts';
import type { EncodedSegment, KeysToAvoid } from './segment.ts';
import { endsSegment } from './segment-cutter.ts';

export interface BuildManifestOptions {
  /** Absent: there is no base, and the changes are the whole dataset. */
  readonly base?: Manifest | undefined;
  /**
   * Returns the entries of a base segment, as `readSegment` does. Called at most once for each, up to 5
   * concurrently.
   */
  readonly loadBaseEntries: (segment: SegmentRef) => Promise<readonly Entry[]> | readonly Entry[];
  /**
   * Strictly ascending by path. With an entry: adds it or replaces the one at its path. Without: removes the
   * path, if it exists.
   */
  readonly changes: AsyncIterable<readonly EntryChange[]> | Iterable<readonly EntryChange[]>;
  /**
   * Stores a segment, as `writeSegment` does. Never called for a segment of the base or an inline one. Up to
   * 8 concurrently.
   */
  readonly onSegment: (segment: EncodedSegment) => Promise<void>;
  /** Names that no new segment may have. */
  readonly avoid?: KeysToAvoid | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface BuiltManifest {
  readonly manifest: Manifest;
  readonly totals: Totals;
}

/** Every segment of the result is stored before this resolves. */
export async function buildManifest(options: BuildManifestOptions): Promise<BuiltManifest> {
  const base = options.base ?? EMPTY_MANIFEST;
  const segments = base.kind === 'segments' ? base.segments : [];
  const { avoid, loadBaseEntries, onSegment } = options;
  const loadSegment = loadBaseEntries;
  const output = new ManifestOutput({ baseSegments: segments, onSegment, loadSegment, avoid });
  const changes = new ChangeCursor(options.changes);
  try {
    if (base.kind === 'inline') await applyChanges(base.entries, changes, undefined, output);
    else await applyToSegments(segments, changes, output, options);
    const manifest = await output.finish();
    return { manifest, totals: totalsOfManifest(manifest) };
  } finally {
    await Promise.all([output.settle(), changes.close()]);
  }
}

async function applyToSegments(
  segments: readonly SegmentRef[],
  changes: ChangeCursor,
  output: ManifestOutput,
  options: BuildManifestOptions,
): Promise<void> {
  const loader = new BaseLoader(segments, options.loadBaseEntries);
  for (const [index, segment] of segments.entries()) {
    checkAborted(options.signal);
    const change = changes.current ?? (await changes.fill());
    const isLast = index === segments.length - 1;
    if (output.isAtCut && isUntouched(segment, isLast, change)) {
      await output.reuse(segment);
      continue;
    }
    loader.loadAhead(index, changes);
    const entries = await loader.load(index);
    await applyChanges(entries, changes, isLast ? undefined : segment.last, output);
  }
  // The remaining changes come after a last segment that was reused because it ends in a real cut.
  await applyChanges([], changes, undefined, output);
}

/** Whether the segment can be reused, given that a segment begins at its first entry. */
function isUntouched(segment: SegmentRef, isLast: boolean, change: EntryChange | undefined): boolean {
  if (change === undefined) return true;
  if (comparePaths(change.path, segment.last) <= 0) return false;
  // Entries after the last segment belong to it, unless it ends in a real cut.
  return !isLast || endsSegment(segment.last, { entries: entryCount(segment), chunks: 0 });
}

/** Merges the entries with the changes up to the path `until`, or with all remaining ones. */
async function applyChanges(
  entries: readonly Entry[],
  changes: ChangeCursor,
  until: string | undefined,
  output: ManifestOutput,
): Promise<void> {
  let at = 0;
  for (;;) {
    const change = changes.current ?? (await changes.fill());
    const applies = change && (until === undefined || comparePaths(change.path, until) <= 0);
    const entry = entries[at];
    if (!applies && !entry) return;
    const order = !applies ? -1 : !entry ? 1 : comparePaths(entry.path, change.path);
    if (order <= 0) at += 1;
    const next = order < 0 ? entry : change?.entry;
    if (order >= 0) changes.advance();
    if (!next) continue;
    assert(order < 0 || next.path === change?.path, 'a change under another path than its entry');
    if (output.add(next)) await output.cut();
  }
}

const LOADS_AHEAD = 4;

/** Loads base segments, those that the current changes need ahead of time. */
class BaseLoader {
  readonly #segments: readonly SegmentRef[];
  readonly #loadEntries: BuildManifestOptions['loadBaseEntries'];
  readonly #loading = new Map<number, Promise<readonly Entry[]>>();

  constructor(segments: readonly SegmentRef[], loadEntries: BuildManifestOptions['loadBaseEntries']) {
    this.#segments = segments;
    this.#loadEntries = loadEntries;
  }

  load(index: number): Promise<readonly Entry[]> {
    const loading = this.#begin(index);
    this.#loading.delete(index);
    return loading;
  }

  /** Starts loading the segments after `index` that the batch of changes needs in any case. */
  loadAhead(index: number, changes: ChangeCursor): void {
    this.#begin(index);
    let { at, batch } = changes;
    for (let segment = index; this.#loading.size <= LOADS_AHEAD; this.#begin(segment)) {
      const { last } = this.#segments[segment] as SegmentRef;
      at = firstIndexWhere(batch, at, (change) => comparePaths(change.path, last) > 0);
      const path = batch[at]?.path;
      if (path === undefined) return;
      segment = firstIndexWhere(this.#segments, segment + 1, (ref) => comparePaths(ref.last, path) >= 0);
      if (segment === this.#segments.length) return;
    }
  }

  #begin(index: number): Promise<readonly Entry[]> {
    const known = this.#loading.get(index);
    if (known) return known;
    const segment = this.#segments[index] as SegmentRef;
    const loading = Promise.resolve().then(() => this.#loadEntries(segment));
    // It is awaited later; until then a failure must not count as unhandled.
    loading.catch(() => {});
    this.#loading.set(index, loading);
    return loading;
  }
}
