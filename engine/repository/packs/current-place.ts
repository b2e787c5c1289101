/** Where the blobs of packs are that a collection has written anew. */
import { isDamage } from '../../base/read-checked.ts';
import type { BlobLocation, PackHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { findMove, HOPS_MAX, readRelocation, type StoredRelocation } from './relocation.ts';

/** Relocations that are remembered. */
const KNOWN_MAX = 256;

export type PackPlace = Extract<BlobLocation, { in: 'pack' }>;

export interface KnownRelocations {
  has(pack: PackHash): boolean;
  /** One request for each pack, and again while it has none. */
  read(pack: PackHash, options?: CallOptions): Promise<StoredRelocation | undefined>;
}

export function createRelocations(store: ObjectStore): KnownRelocations {
  const known = new Map<PackHash, Promise<StoredRelocation | undefined>>();
  return {
    has: (pack) => known.has(pack),
    read: (pack, { signal } = {}) => {
      const asked = known.get(pack) ?? readRelocation(store, pack, signal ? { signal } : {});
      if (known.size >= KNOWN_MAX) known.clear();
      known.set(pack, asked);
      // One that is absent or fails is asked for again.
      asked.then(
        (found) => found ?? known.delete(pack),
        () => known.delete(pack),
      );
      return asked;
    },
  };
}

export interface CurrentPlaceOptions extends CallOptions {
  readonly relocations: KnownRelocations;
  /** Whether a blob may be read from the pack. */
  readonly isThere: (pack: PackHash) => boolean;
  /** Whether the pack's relocation may be relied on. */
  readonly isFollowed?: (pack: PackHash) => boolean;
}

/**
 * The place itself, or where the blob has moved to; undefined if it is in none of these packs, or if a
 * relocation cannot be read.
 */
export async function currentPlace(
  place: PackPlace,
  { isFollowed = () => true, isThere, relocations, ...call }: CurrentPlaceOptions,
): Promise<PackPlace | undefined> {
  let now = place;
  for (let hops = 0; hops <= HOPS_MAX; hops += 1) {
    if (isThere(now.pack)) return now;
    if (!isFollowed(now.pack)) return undefined;
    const relocation = await relocations.read(now.pack, call).catch((error: unknown) => {
      if (!isDamage(error)) throw error;
      return undefined;
    });
    const move = relocation && findMove(relocation, now.offset);
    if (!move) return undefined;
    now = { ...place, pack: move.pack, offset: move.to };
  }
  return undefined;
}
