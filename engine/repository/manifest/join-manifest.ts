/**
 * Joins runs of segments that were cut apart from each other, such as by several machines.
 *
 * Invariant: the result is exactly the manifest of all entries, entries and cuts alike. A stored segment is
 * taken as it is where the manifest is at a cut and the segment ends in one, since cuts depend only on the
 * entries since the last cut. So only the segments around the seams are read and cut again.
 */
import { checkAborted } from '../../base/abort.ts';
import type { Entry } from '../../model/entry.ts';
import { entryCount, type Manifest, type SegmentRef, type Totals, totalsOfManifest } from './manifest.ts';
import { ManifestOutput } from './manifest-output.ts';
import type { EncodedSegment, KeysToAvoid } from './segment.ts';
import { endsSegment } from './segment-cutter.ts';

/** A stored segment that was cut from its first entry on, or entries in order. */
export type ManifestPiece = { readonly segment: SegmentRef } | { readonly entries: readonly Entry[] };

export interface JoinManifestOptions {
  /** Together strictly ascending by path. */
  readonly pieces: AsyncIterable<ManifestPiece>;
  readonly loadSegment: (segment: SegmentRef) => Promise<readonly Entry[]>;
  /** Stores a segment, as `writeSegment` does. Up to 8 concurrently. */
  readonly onSegment: (segment: EncodedSegment) => Promise<void>;
  /** Names that no new segment may have. */
  readonly avoid?: KeysToAvoid | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Every segment of the result is stored before this resolves. */
export async function joinManifest(
  options: JoinManifestOptions,
): Promise<{ readonly manifest: Manifest; readonly totals: Totals }> {
  const { avoid, loadSegment, onSegment } = options;
  const output = new ManifestOutput({ baseSegments: [], onSegment, loadSegment, avoid });
  try {
    for await (const piece of options.pieces) {
      checkAborted(options.signal);
      if ('segment' in piece && output.isAtCut && endsInCut(piece.segment)) {
        await output.reuse(piece.segment);
        continue;
      }
      const entries = 'segment' in piece ? await options.loadSegment(piece.segment) : piece.entries;
      for (const entry of entries) if (output.add(entry)) await output.cut();
    }
    const manifest = await output.finish();
    return { manifest, totals: totalsOfManifest(manifest) };
  } finally {
    await output.settle();
  }
}

/** A segment that ends by its number of chunks alone is cut again, to the same segment. */
function endsInCut(segment: SegmentRef): boolean {
  return endsSegment(segment.last, { entries: entryCount(segment), chunks: 0 });
}
