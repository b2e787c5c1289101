/**
 * The next manifest: the old one with changes applied, at the cost of what changed.
 *
 * The invariant: if the base was cut by the rule of `segment-cutter.ts`, as every manifest made here is, the result is
 * exactly the manifest of the complete new entry list, entries and cuts alike. It holds although segments are reused
 * unseen, because a cut depends only on the entries since the cut before it: where a new cut falls on an old one and no
 * change follows, the old cuts follow too.
 *
 * In memory: one segment, a few that are loaded or stored at the moment, a batch of changes, and the list of segments.
 */
import assert from 'node:assert/strict';
import { checkAborted } from '../../base/abort.ts';
import { comparePaths, type Entry } from '../../model/entry.ts';
import { firstIndexWhere } from '../sorted-search.ts';
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
import type { EncodedSegment } from './segment.ts';
import { endsSegment } from './segment-cutter.ts';

export interface BuildManifestOptions {
  /** Absent: there is nothing yet, and the changes are the whole dataset. */
  readonly base?: Manifest | undefined;
  /** Gives the entries of a base segment, as `readSegment` does. Called once at most for each, up to 5 at a time. */
  readonly loadBaseEntries: (segment: SegmentRef) => Promise<readonly Entry[]> | readonly Entry[];
  /**
   * Strictly ascending by path. With an entry: it is added or replaces the one at its path. Without: the path is removed,
   * which is no error where it was not.
   */
  readonly changes: AsyncIterable<readonly EntryChange[]> | Iterable<readonly EntryChange[]>;
  /** Stores a segment, as `writeSegment` does. Never called for a segment of the base, nor for one that is inline. Up to 8 at a time. */
  readonly onSegment: (segment: EncodedSegment) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface BuiltManifest {
  readonly manifest: Manifest;
  readonly totals: Totals;
}

/** When it resolves, every segment of the result is stored. */
export async function buildManifest(options: BuildManifestOptions): Promise<BuiltManifest> {
  const base = options.base ?? EMPTY_MANIFEST;
  const segments = base.kind === 'segments' ? base.segments : [];
  const output = new ManifestOutput({ baseSegments: segments, onSegment: options.onSegment });
  const changes = new ChangeCursor(options.changes);
  try {
    if (base.kind === 'inline') await applyChanges(base.entries, changes, undefined, output);
    else await applyToSegments(segments, changes, output, options);
    let manifest = await output.finish();
    if (manifest.kind === 'segments' && manifest.segments.length === 1) {
      const [only] = manifest.segments as readonly [SegmentRef];
      manifest = { kind: 'inline', entries: await options.loadBaseEntries(only) };
    }
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
  // What is left comes after a last segment that was reused because it ends in a real cut.
  await applyChanges([], changes, undefined, output);
}

/** Whether the segment stays as it is, given that a segment begins at its first entry. */
function isUntouched(segment: SegmentRef, isLast: boolean, change: EntryChange | undefined): boolean {
  if (change === undefined) return true;
  if (comparePaths(change.path, segment.last) <= 0) return false;
  // What follows the last segment belongs to it, unless it ends in a real cut.
  return !isLast || endsSegment(segment.last, { entries: entryCount(segment), chunks: 0 });
}

/** Merges the entries with the changes up to the path `until`, or with all that are left. */
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

/** Loads base segments, those that the changes at hand will touch ahead of time. */
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

  /** Begins with the segments after `index` that the batch of changes touches: they will be needed in any case. */
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
    // It is awaited in its turn; until then a failure must not count as unhandled.
    loading.catch(() => {});
    this.#loading.set(index, loading);
    return loading;
  }
}
