/**
 * Records the ranges of a stretch, whose bytes arrive in pieces of any size, each range once it is completely
 * written.
 */
import type { ByteRange } from '../../remotes/object-store.ts';
import { joinSums, type SummedPart } from '../compare/part-sums.ts';
import type { RangeJournal } from './range-journal.ts';

export interface StretchNotes {
  /**
   * Call it for one piece after the other, in order; no piece may cross a range's border. Call the returned
   * functions in any order, once the piece is written, with its CRC64NVME.
   */
  begin(piece: ByteRange): (crc64nvme: bigint) => Promise<void>;
}

interface OpenRange extends ByteRange {
  readonly parts: SummedPart[];
  missingBytes: number;
}

export function openStretchNotes(
  journal: Pick<RangeJournal, 'note'>,
  { rangeBytes, sizeBytes }: { readonly rangeBytes: number; readonly sizeBytes: number },
): StretchNotes {
  let range: OpenRange | undefined;
  const rangeAt = (at: number): OpenRange => {
    const start = at - (at % rangeBytes);
    if (range?.start === start) return range;
    const end = Math.min(start + rangeBytes, sizeBytes);
    range = { start, end, parts: [], missingBytes: end - start };
    return range;
  };
  return {
    begin({ end, start }) {
      const of = rangeAt(start);
      const at = of.parts.length;
      const lengthBytes = end - start;
      of.parts.push({ sum: { crc64nvme: 0n }, sizeBytes: lengthBytes });
      return async (crc64nvme) => {
        of.parts[at] = { sum: { crc64nvme }, sizeBytes: lengthBytes };
        of.missingBytes -= lengthBytes;
        if (of.missingBytes > 0) return;
        const joined = joinSums(of.parts);
        if ('crc64nvme' in joined) await journal.note({ start: of.start, end: of.end }, joined.crc64nvme);
      };
    },
  };
}

/** A piece, divided at the borders of ranges. */
export function cutAtRanges(
  start: number,
  bytes: Uint8Array,
  rangeBytes: number,
): readonly { readonly start: number; readonly bytes: Uint8Array }[] {
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    const leftBytes = rangeBytes - ((start + at) % rangeBytes);
    const part = bytes.subarray(at, at + leftBytes);
    parts.push({ start: start + at, bytes: part });
    at += part.length;
  }
  return parts;
}
