/**
 * The blobs at the new places of a relocation, as the new packs' own indexes say. This is how a relocation is
 * checked that has no digest: an entry names the blob that it expects at a place.
 */
import type { BlobHash, PackHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { damaged } from '../document.ts';
import { relocationKey } from '../keys.ts';
import type { PackedBlob } from './pack-format.ts';
import { readPackIndex } from './read-pack-index.ts';
import type { Relocation } from './relocation.ts';

/**
 * Two requests for each new pack.
 * @returns For each move the blob at its new place.
 * @throws `damaged` naming the relocation if no blob lies there; `damaged` or `notFound` naming a new pack
 */
export async function readMovedBlobs(
  store: ObjectStore,
  { moves, pack }: Pick<Relocation, 'moves' | 'pack'>,
  call: CallOptions = {},
): Promise<readonly BlobHash[]> {
  const indexes = new Map<PackHash, ReadonlyMap<number, PackedBlob>>();
  for (const target of new Set(moves.map((move) => move.pack))) {
    const blobs = await readPackIndex(store, target, call);
    indexes.set(target, new Map(blobs.map((blob) => [blob.offset, blob])));
  }
  return moves.map(({ pack: target, sizeBytes, to }) => {
    const blob = indexes.get(target)!.get(to);
    if (blob?.sizeBytes === sizeBytes) return blob.hash;
    throw damaged(relocationKey(pack), 'it names a place at which its new pack has no such blob');
  });
}
