import { describe, expect, it } from 'vitest';
import type { Entry, SegmentHash } from '../../model/entry.ts';
import { countedEntries } from '../entries.fixture.ts';
import { buildManifest } from './build-manifest.ts';
import { joinManifest, type ManifestPiece } from './join-manifest.ts';
import type { SegmentRef } from './manifest.ts';
import { decodeSegment, type EncodedSegment, encodeSegment } from './segment.ts';
import { SegmentCutter } from './segment-cutter.ts';

/** Stored segments in memory, and the loads of each. */
function createSegments() {
  const stored = new Map<SegmentHash, Uint8Array>();
  const loaded: SegmentHash[] = [];
  const onSegment = async ({ bytes, hash }: EncodedSegment) => void stored.set(hash, bytes);
  const load = async ({ hash }: SegmentRef) => {
    loaded.push(hash);
    return decodeSegment(hash, stored.get(hash)!);
  };
  return { stored, loaded, onSegment, load };
}
type Segments = ReturnType<typeof createSegments>;

/** Cuts the part of one machine: segments that end in a cut, and the rest. */
function cutAlone({ stored }: Segments, entries: readonly Entry[]): ManifestPiece[] {
  const cutter = new SegmentCutter();
  const pieces: ManifestPiece[] = [];
  let rest: Entry[] = [];
  for (const entry of entries) {
    rest.push(entry);
    if (!cutter.add(entry)) continue;
    const segment = encodeSegment(rest);
    stored.set(segment.hash, segment.bytes);
    pieces.push({ segment: segment.ref });
    rest = [];
  }
  return [...pieces, { entries: rest }];
}

async function* inOrder(pieces: readonly ManifestPiece[]): AsyncGenerator<ManifestPiece> {
  yield* pieces;
}
function join(segments: Segments, pieces: readonly ManifestPiece[]) {
  const { load: loadSegment, onSegment } = segments;
  return joinManifest({ pieces: inOrder(pieces), loadSegment, onSegment });
}
function whole({ load, onSegment }: Segments, entries: readonly Entry[]) {
  const changes = [entries.map((entry) => ({ path: entry.path, entry }))];
  return buildManifest({ changes, onSegment, loadBaseEntries: load });
}

describe('runs of segments that were cut apart', () => {
  it.each([
    [30_000, [7, 4_000, 4_001, 15_555, 29_999]],
    [30_000, [10_000, 20_000]],
    [20_000, Array.from({ length: 25 }, (_, at) => at * 800)],
    [500, [100, 499]],
    [3_000, [0, 3_000]],
  ])('join to the manifest of all %i entries, wherever the seams are: %j', async (count, seams) => {
    const segments = createSegments();
    const entries = countedEntries(count);
    const bounds = [0, ...seams, count];
    const pieces = bounds.slice(1).flatMap((end, at) => cutAlone(segments, entries.slice(bounds[at]!, end)));
    expect(await join(segments, pieces)).toEqual(await whole(segments, entries));
  });

  it('join also behind the last segment of an older manifest, which ends in no cut', async () => {
    const segments = createSegments();
    const entries = countedEntries(12_000);
    const old = await whole(segments, entries.slice(0, 6_000));
    if (old.manifest.kind !== 'segments') throw new Error('too few entries');
    const pieces = [
      ...old.manifest.segments.map((segment) => ({ segment })),
      ...cutAlone(segments, entries.slice(6_000)),
    ];
    expect(await join(segments, pieces)).toEqual(await whole(segments, entries));
  });

  it('are read around the seams alone', async () => {
    const segments = createSegments();
    const entries = countedEntries(60_000);
    const pieces = [entries.slice(0, 30_000), entries.slice(30_000)].flatMap((part) =>
      cutAlone(segments, part),
    );
    const { manifest } = await join(segments, pieces);
    expect(manifest.kind === 'segments' && manifest.segments.length).toBeGreaterThan(20);
    expect(segments.loaded.length).toBeLessThan(8);
  });

  it('of one segment become a list of entries, and of nothing an empty one', async () => {
    const segments = createSegments();
    const entries = countedEntries(20);
    const expected = { manifest: { kind: 'inline', entries } };
    expect(
      await join(segments, [{ entries: entries.slice(0, 9) }, { entries: entries.slice(9) }]),
    ).toMatchObject(expected);
    expect(await join(segments, [])).toMatchObject({ manifest: { kind: 'inline', entries: [] } });
  });
});
