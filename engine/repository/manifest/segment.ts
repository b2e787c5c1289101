/**
 * A manifest segment: a run of entries, strictly ascending in byte order of their paths.
 *
 * Uncompressed it is JSON with one entry per line (see `entry-text.ts`):
 *
 *     {"format":1,"packs":["<hex>",...],"entries":[
 *     {"path":...},
 *     {"path":...}
 *     ]}
 *
 * `packs` lists the packs that entries name, in the order of their first mention. The same entries always
 * give the same bytes, so equal segments have equal names and are stored once. The one exception: a segment
 * whose key a collection has condemned gets `"epoch":k`, and so another name.
 */

import assert from 'node:assert/strict';
import { hash as hashOf } from 'node:crypto';
import { quotedExcerpt } from '../../api/error.ts';
import { comparePaths, type Entry, type PackHash, type SegmentHash } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import {
  checkFormat,
  damaged,
  decodeDocument,
  encodeDocument,
  FEATURE_COLLECTION,
  type JsonObject,
} from '../document.ts';
import { isHash, segmentKey } from '../keys.ts';
import { entryToText, hasGeneration, parseEntry } from './entry-text.ts';
import { type SegmentRef, totalsOfEntries } from './manifest.ts';

/** The keys that no new document may have, and the round of the collection that says so. */
export interface KeysToAvoid {
  readonly round: number;
  avoids(key: RemoteKey): boolean;
}

export interface EncodedSegment {
  readonly hash: SegmentHash;
  /** The JSON, UTF-8. */
  readonly raw: Uint8Array;
  /** The bytes stored under `segmentKey(hash)`. */
  readonly bytes: Uint8Array;
  /** The form in which its commit lists it. */
  readonly ref: SegmentRef;
}

/**
 * @param entries At least one, strictly ascending.
 * @param avoid Keys of a collection: see `repository/collection/`.
 * @throws `unsafePath` for an entry that readers refuse, `unsupported` for more than 256 MiB of JSON.
 */
export function encodeSegment(entries: readonly Entry[], avoid?: KeysToAvoid): EncodedSegment {
  const segment = encodeInEpoch(entries);
  return avoid?.avoids(segmentKey(segment.hash)) ? encodeInEpoch(entries, avoid.round) : segment;
}

function encodeInEpoch(entries: readonly Entry[], epoch?: number): EncodedSegment {
  const first = entries[0];
  const last = entries.at(-1);
  assert(first && last, 'a segment without entries');
  const { hash: name, raw, bytes } = encodeDocument(segmentToText(entries, epoch));
  const hash = name as SegmentHash;
  return { hash, raw, bytes, ref: { hash, first: first.path, last: last.path, ...totalsOfEntries(entries) } };
}

/** Whether these are the segment's entries, as Dray writes them before the first round or in this one. */
export function isSegmentOf(hash: SegmentHash, entries: readonly Entry[], round = 0): boolean {
  const hasName = (epoch?: number) => hashOf('sha256', segmentToText(entries, epoch)) === hash;
  return hasName() || (round > 0 && hasName(round));
}

/** @param stored The bytes of `segmentKey(hash)`. @throws `damaged` naming that key, `formatTooNew`. */
export function decodeSegment(hash: SegmentHash, stored: Uint8Array): Entry[] {
  const key = segmentKey(hash);
  return parseSegment(key, decodeDocument(key, hash, stored));
}

/** The JSON of a segment, stored by itself or as the `manifest` of a commit. */
export function segmentToText(entries: readonly Entry[], epoch?: number): string {
  const packs = new Map<PackHash, number>();
  const packIndex = (pack: PackHash): number => {
    const known = packs.get(pack);
    if (known !== undefined) return known;
    const index = packs.size;
    packs.set(pack, index);
    return index;
  };
  const lines: string[] = [];
  let previous: string | undefined;
  for (const entry of entries) {
    assert(previous === undefined || comparePaths(previous, entry.path) < 0, 'entries out of order');
    lines.push(entryToText(entry, packIndex));
    previous = entry.path;
  }
  const required = entries.some(hasGeneration) ? `,"required":["${FEATURE_COLLECTION}"]` : '';
  const inEpoch = epoch === undefined ? '' : `,"epoch":${epoch}`;
  return `{"format":1${required}${inEpoch},"packs":${JSON.stringify([...packs.keys()])},"entries":[\n${lines.join(',\n')}\n]}`;
}

/** @param key The object with the segment. @throws `damaged` naming `key`, `formatTooNew`. */
export function parseSegment(key: RemoteKey, value: unknown): Entry[] {
  const segment = checkFormat(key, value);
  const packs = parsePacks(key, segment);
  if (!Array.isArray(segment.entries)) throw damaged(key, '"entries" is not a list');
  const entries: Entry[] = [];
  let previous: string | undefined;
  for (const item of segment.entries as unknown[]) {
    const entry = parseEntry(key, item, packs);
    if (previous !== undefined && comparePaths(previous, entry.path) >= 0) {
      throw damaged(key, `the entry ${quotedExcerpt(entry.path)} is out of order`);
    }
    previous = entry.path;
    entries.push(entry);
  }
  if (entries.length === 0) throw damaged(key, 'it has no entries');
  return entries;
}

function parsePacks(key: RemoteKey, segment: JsonObject): readonly PackHash[] {
  const { packs } = segment;
  if (packs === undefined) return [];
  if (!Array.isArray(packs) || !packs.every(isHash)) throw damaged(key, '"packs" is not a list of hashes');
  return packs as unknown as readonly PackHash[];
}
