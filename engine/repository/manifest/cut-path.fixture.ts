import { endsSegment, SEGMENT_MIN_ENTRIES } from './segment-cutter.ts';

/**
 * A path in the folder at which a manifest is cut, if at least `SEGMENT_MIN_ENTRIES` entries come before it.
 * With such a path few files make two segments.
 */
export function findCutPath(folder: string): string {
  for (let at = 0; ; at += 1) {
    const path = `${folder}/${at}`;
    if (endsSegment(path, { entries: SEGMENT_MIN_ENTRIES, chunks: 0 })) return path;
  }
}
