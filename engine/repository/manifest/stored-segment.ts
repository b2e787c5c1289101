/** Reads and writes one manifest segment of a repository. */
import { crc32 } from 'node:zlib';
import { readChecked } from '../../base/read-checked.ts';
import type { Entry } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { absent, damaged, STORED_DOCUMENT_MAX_BYTES } from '../document.ts';
import { segmentKey } from '../keys.ts';
import { type SegmentRef, sameTotals, totalsOfEntries } from './manifest.ts';
import { decodeSegment, type EncodedSegment } from './segment.ts';

/** One request, and one more for damaged bytes. A missing segment is `damaged`, since a commit names it. */
export async function readSegment(
  store: ObjectStore,
  segment: SegmentRef,
  options: CallOptions = {},
): Promise<readonly Entry[]> {
  const key = segmentKey(segment.hash);
  const entries = await readChecked(
    (isAgain) => store.read(key, { ...options, maxBytes: STORED_DOCUMENT_MAX_BYTES, isAgain }),
    ({ bytes }) => decodeSegment(segment.hash, bytes),
  );
  if (!entries) throw absent(store, key);
  const isAsNamed =
    entries[0]?.path === segment.first &&
    entries.at(-1)?.path === segment.last &&
    sameTotals(totalsOfEntries(entries), segment);
  if (!isAsNamed) throw damaged(key, 'its commit describes other content');
  return entries;
}

/** One request. Has no effect when the segment exists. */
export async function writeSegment(
  store: ObjectStore,
  segment: EncodedSegment,
  options: CallOptions = {},
): Promise<void> {
  const { hash, bytes } = segment;
  const checksum = { crc32: crc32(bytes) };
  await store.put(segmentKey(hash), bytes, { ...options, condition: { absent: true }, checksum });
}
