/**
 * Decides where a manifest is cut into segments.
 *
 * A cut depends only on the entries since the last cut. Cutting the same entries from the same place gives
 * the same segments, and after an edit the cuts meet the old ones as soon as one of them falls on an old one:
 * an edit changes one segment, rarely two or three.
 */
import { crc32 } from 'node:zlib';
import type { Entry } from '../../model/entry.ts';

/**
 * Only the last segment is shorter. Above 1,000, so that a dataset of 1,000 files is one segment, inside its
 * commit.
 */
export const SEGMENT_MIN_ENTRIES = 1_024;
export const SEGMENT_MAX_ENTRIES = 8_192;
/** Bounds the text of a segment of very large files: about 5 MB. */
export const SEGMENT_MAX_CHUNKS = 65_536;

/** The entries since the last cut, including the current one. */
export interface SegmentFill {
  readonly entries: number;
  readonly chunks: number;
}

/**
 * Whether a segment ends after the entry at `path`: at the maximum, or past the minimum where the path's hash
 * says so (one path in 1,024). On average a segment has about 2,050 entries.
 */
export function endsSegment(path: string, fill: SegmentFill): boolean {
  if (fill.entries >= SEGMENT_MAX_ENTRIES || fill.chunks >= SEGMENT_MAX_CHUNKS) return true;
  return fill.entries >= SEGMENT_MIN_ENTRIES && isCutPath(path);
}

/** Counts entries and decides where to cut. */
export class SegmentCutter {
  #entries = 0;
  #chunks = 0;

  /** Whether nothing was added since the last cut. */
  get isFresh(): boolean {
    return this.#entries === 0;
  }

  /** True when a segment ends after this entry; the next entry begins a new segment. */
  add(entry: Entry): boolean {
    this.#entries += 1;
    if (entry.kind === 'file' && entry.location.in === 'chunks') this.#chunks += entry.location.chunks.length;
    if (!endsSegment(entry.path, { entries: this.#entries, chunks: this.#chunks })) return false;
    this.#entries = 0;
    this.#chunks = 0;
    return true;
  }
}

/**
 * CRC-32 (as in zip) of the path's UTF-8 form, times 2^32 divided by the golden ratio (Knuth's multiplicative
 * hash); a cut where its top ten bits are zero. The CRC alone is linear: counted names such as `0001.jpg`
 * would share few of its values.
 */
function isCutPath(path: string): boolean {
  return Math.imul(crc32(path), 0x9e3779b1) >>> 22 === 0;
}
