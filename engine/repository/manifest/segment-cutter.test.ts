import { describe, expect, it } from 'vitest';
import type { Entry } from '../../model/entry.ts';
import { fileEntry } from '../entries.fixture.ts';
import {
  endsSegment,
  SEGMENT_MAX_CHUNKS,
  SEGMENT_MAX_ENTRIES,
  SEGMENT_MIN_ENTRIES,
  SegmentCutter,
} from './segment-cutter.ts';

/** The sizes of the segments, without the unfinished last one. */
function cutSizes(entries: Iterable<Entry>): number[] {
  const cutter = new SegmentCutter();
  const sizes: number[] = [];
  let size = 0;
  for (const entry of entries) {
    if (cutter.isFresh !== (size === 0)) throw new Error('the cutter lost count');
    size += 1;
    if (!cutter.add(entry)) continue;
    sizes.push(size);
    size = 0;
  }
  return sizes;
}

describe('cutting a manifest', () => {
  it.each(['images/', 'a', 'train/part-', '\u00fc/'])(
    'cuts counted names below %s into segments of about 2,000 entries, within the bounds',
    (prefix) => {
      const entry = fileEntry('');
      const paths = Array.from({ length: 200_000 }, (_, at) => `${prefix}${String(at).padStart(7, '0')}.jpg`);
      const sizes = cutSizes(paths.map((path) => ({ ...entry, path })));
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(SEGMENT_MIN_ENTRIES);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(SEGMENT_MAX_ENTRIES);
      expect(200_000 / sizes.length).toBeGreaterThan(1_700);
      expect(200_000 / sizes.length).toBeLessThan(2_500);
    },
  );

  it('ends a segment at its bounds whatever the path', () => {
    expect(endsSegment('a', { entries: SEGMENT_MAX_ENTRIES, chunks: 0 })).toBe(true);
    expect(endsSegment('a', { entries: 1, chunks: SEGMENT_MAX_CHUNKS })).toBe(true);
    expect(endsSegment('a', { entries: 1, chunks: SEGMENT_MAX_CHUNKS - 1 })).toBe(false);
  });

  it('counts chunks from zero in each segment', () => {
    const third = Math.ceil(SEGMENT_MAX_CHUNKS / 3);
    const chunks = Array(third).fill({ hash: fileEntry('').blob, sizeBytes: 1 });
    const entry = fileEntry('a', 'a', { location: { in: 'chunks', chunks } });
    expect(cutSizes(Array(10).fill(entry))).toEqual([3, 3, 3]);
  });

  it('cuts after about one path in 1,024 past the minimum and after none before it', () => {
    const paths = Array.from({ length: 200_000 }, (_, index) => `data/${index}/x`);
    const ends = (entries: number) =>
      paths.filter((path) => endsSegment(path, { entries, chunks: 0 })).length;
    expect(ends(SEGMENT_MIN_ENTRIES - 1)).toBe(0);
    expect(ends(SEGMENT_MIN_ENTRIES)).toBeGreaterThan(140);
    expect(ends(SEGMENT_MIN_ENTRIES)).toBeLessThan(250);
  });
});
