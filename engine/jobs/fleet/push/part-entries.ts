/**
 * The document `entries/RRRRR-NNNNNN.json`, which lists the entries of a part. Segments that end in a cut are
 * stored in the repository; the document holds the other entries until the parts are joined. For a worker's
 * folder it holds all entries.
 */
import * as v from 'valibot';
import type { PartRequest } from '../../../api/jobs/fleet.ts';
import type { Entry, SegmentHash } from '../../../model/entry.ts';
import type { SegmentRef } from '../../../repository/manifest/manifest.ts';
import {
  decodeSegment,
  type EncodedSegment,
  encodeSegment,
  type KeysToAvoid,
} from '../../../repository/manifest/segment.ts';
import { SegmentCutter } from '../../../repository/manifest/segment-cutter.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { partName, segmentRef } from '../fleet-part.ts';

const document = v.object({
  segments: v.array(segmentRef),
  /** A segment in its stored form, in base64. */
  rest: v.optional(v.object({ hash: v.string(), bytes: v.string() })),
  /** Files whose path may be that of a folder in a later part. */
  open: v.array(v.string()),
});

export interface PartEntries {
  readonly segments: readonly SegmentRef[];
  readonly rest: readonly Entry[];
  readonly open: readonly string[];
}

export interface EntriesToWrite {
  readonly entries: readonly Entry[];
  readonly open: readonly string[];
  /** Names that no segment may have. */
  readonly avoid: KeysToAvoid | undefined;
  /** Stores a segment. Absent: the document holds all entries. */
  readonly onSegment?: (segment: EncodedSegment) => Promise<void>;
}

export async function writePartEntries(
  folder: FleetFolder,
  part: PartRequest,
  { avoid, entries, onSegment, open }: EntriesToWrite,
): Promise<void> {
  const cutter = new SegmentCutter();
  const segments: SegmentRef[] = [];
  let rest: Entry[] = [];
  for (const entry of entries) {
    rest.push(entry);
    if (!onSegment || !cutter.add(entry)) continue;
    const segment = encodeSegment(rest, avoid);
    await onSegment(segment);
    segments.push(segment.ref);
    rest = [];
  }
  const last = rest.length === 0 ? undefined : encodeSegment(rest);
  await folder.write(nameOf(part), {
    segments,
    ...(last && { rest: { hash: last.hash, bytes: Buffer.from(last.bytes).toString('base64') } }),
    open,
  });
}

export async function readPartEntries(
  folder: FleetFolder,
  part: PartRequest,
): Promise<PartEntries | undefined> {
  const found = await folder.read(nameOf(part), document);
  if (!found) return undefined;
  const { open, rest, segments } = found;
  return {
    open,
    segments: segments.map((segment) => ({ ...segment, hash: segment.hash as SegmentHash })),
    rest: rest ? decodeSegment(rest.hash as SegmentHash, Buffer.from(rest.bytes, 'base64')) : [],
  };
}

function nameOf(part: PartRequest): string {
  return `entries/${partName(part)}.json`;
}
