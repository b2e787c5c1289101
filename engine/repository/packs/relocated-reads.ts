/**
 * A store whose packs can be read although a collection has written them anew: a read of a pack that is gone
 * becomes reads of the packs that have its blobs now. No request more while the pack is there.
 *
 * Bytes that nobody has any more read as zeros. Every reader of a pack checks each blob against its hash.
 */
import { checkReadSize, resolveRange } from '../../remotes/byte-range.ts';
import type { ObjectBytes, ObjectStore, ReadOptions } from '../../remotes/object-store.ts';
import { damaged } from '../document.ts';
import { hashFromPackKey, packKey } from '../keys.ts';
import { createRelocations } from './current-place.ts';
import { planPackReads } from './pack-reads.ts';
import { HOPS_MAX, type Move, movesWithin, type Relocation } from './relocation.ts';

/** Reading this many unwanted bytes costs less than another request. */
const GAP_BYTES = 256 * 1024;

export function withRelocations(store: ObjectStore): ObjectStore {
  const relocations = createRelocations(store);
  const readAfter =
    (hops: number): ObjectStore['read'] =>
    async (key, options) => {
      const pack = hashFromPackKey(key);
      if (pack === undefined) return store.read(key, options);
      const found = relocations.has(pack) ? undefined : await store.read(key, options);
      if (found) return found;
      const relocation = await relocations.read(pack, options);
      if (!relocation) return undefined;
      if (hops === HOPS_MAX) throw damaged(key, 'its relocations lead in a circle');
      return gather(relocation, options, readAfter(hops + 1));
    };
  return { ...store, read: readAfter(0) };
}

/** @param read Of this store, since a pack may move more than once. */
async function gather(
  relocation: Relocation,
  options: ReadOptions,
  read: ObjectStore['read'],
): Promise<ObjectBytes | undefined> {
  const { into, maxBytes, range, ...call } = options;
  const key = packKey(relocation.pack);
  const { end, start } = resolveRange(key, relocation.sizeBytes, range);
  checkReadSize(key, end - start, maxBytes);
  const bytes =
    into && into.length >= end - start ? into.subarray(0, end - start) : new Uint8Array(end - start);
  bytes.fill(0);
  const pieces = movesWithin(relocation, start, end).map((move) => cutMove(move, start, end));
  for (const pack of new Set(pieces.map((piece) => piece.pack))) {
    const own = pieces.filter((piece) => piece.pack === pack);
    for (const { items, ...wanted } of planPackReads(own, { gapBytesMax: GAP_BYTES, rangeBytesMax: end })) {
      const wantedBytes = wanted.end - wanted.start;
      const found = await read(packKey(pack), { ...call, range: wanted, maxBytes: wantedBytes });
      if (!found) return undefined;
      if (found.bytes.length < wantedBytes)
        throw damaged(packKey(pack), 'it is shorter than a relocation says');
      for (const { at, offset, sizeBytes } of items) {
        const from = offset - wanted.start;
        bytes.set(found.bytes.subarray(from, from + sizeBytes), at);
      }
    }
  }
  const info = { key, sizeBytes: relocation.sizeBytes, etag: '', modifiedMs: 0 };
  return { bytes, etag: '', info };
}

/** The part of the blob between `start` and `end` of the old pack: its place there, and in the new pack. */
function cutMove({ offset, pack, sizeBytes, to }: Move, start: number, end: number) {
  const first = Math.max(offset, start);
  const last = Math.min(offset + sizeBytes, end);
  return { pack, at: first - start, offset: to + first - offset, sizeBytes: last - first };
}
