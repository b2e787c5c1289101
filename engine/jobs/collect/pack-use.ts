/**
 * How much of each pack is needed, and which packs are worth writing anew. Bounded: beyond that many packs,
 * further ones stay as they are.
 */
import type { PackHash } from '../../model/entry.ts';
import { SALT_BYTES } from '../../repository/packs/pack.ts';
import { INDEX_FIXED_BYTES, ROW_BYTES } from '../../repository/packs/pack-format.ts';

/** 30 MB of memory; 6 TB in packs of 32 MiB. */
const PACKS_MAX = 200_000;
/** A pack is held in memory while its blobs are copied. */
const PACK_BYTES_MAX = 128 * 1024 * 1024;
/** A relocation takes five values for each blob, and any document may have a million (`documentBounds`). */
export const BLOBS_MAX = 199_000;

/** Packs are written anew, the emptiest first, until unused bytes are at most this share of what is kept. */
const UNUSED_SHARE_MAX = 0.05;
/** A pack that is at least half needed is not written anew for less. */
const WORTH_BYTES = 4_096;
/** The new pack has a salt. Without it here, a pack of a few bytes would be written anew each time. */
const SALT_ROW_BYTES = SALT_BYTES + ROW_BYTES;

export interface SparsePack {
  readonly pack: PackHash;
  readonly sizeBytes: number;
  /** A pack of just the blobs that entries name has so many. */
  readonly neededBytes: number;
  /** Those of which a new pack of the needed blobs would be smaller. */
  readonly unusedBytes: number;
}

interface Needed {
  /** As `SparsePack.neededBytes`. */
  bytes: number;
  blobs: number;
}

export class PackUse {
  readonly #needed = new Map<PackHash, Needed>();
  readonly #listed: SparsePack[] = [];

  /**
   * Counts one blob, once.
   * @param storedBytes Infinite: the pack must stay as it is.
   */
  note(pack: PackHash, storedBytes: number): void {
    const needed = this.#needed.get(pack) ?? { bytes: INDEX_FIXED_BYTES, blobs: 0 };
    if (needed.blobs === 0) {
      if (this.#needed.size >= PACKS_MAX) return;
      this.#needed.set(pack, needed);
    }
    needed.bytes += storedBytes + ROW_BYTES;
    needed.blobs += 1;
  }

  /**
   * Once the mark is made.
   * @param listedBytes The size that a listing shows for so many bytes: an encrypted repository pads them.
   */
  noteSize(pack: PackHash, sizeBytes: number, listedBytes: (sizeBytes: number) => number): void {
    const { blobs = 0, bytes: neededBytes = 0 } = this.#needed.get(pack) ?? {};
    if (blobs === 0 || blobs > BLOBS_MAX || neededBytes > sizeBytes || sizeBytes > PACK_BYTES_MAX) return;
    const unusedBytes = sizeBytes - listedBytes(neededBytes + SALT_ROW_BYTES);
    if (unusedBytes > 0) this.#listed.push({ pack, sizeBytes, neededBytes, unusedBytes });
  }

  /** Those of these packs that have unused blobs. */
  listed(packs: ReadonlySet<PackHash>): readonly SparsePack[] {
    return this.#listed.filter(({ pack }) => packs.has(pack));
  }

  /**
   * The packs of which less than half is needed, and then, the emptiest first, so many that little of what
   * stays is unused.
   * @param keptBytes All that is needed on the store, unused parts of packs included.
   */
  sparse(keptBytes: number): readonly SparsePack[] {
    const shareOf = ({ sizeBytes, unusedBytes }: SparsePack) => unusedBytes / sizeBytes;
    let unused = this.#listed.reduce((total, { unusedBytes }) => total + unusedBytes, 0);
    const bound = (keptBytes - unused) * UNUSED_SHARE_MAX;
    return this.#listed
      .sort((left, right) => shareOf(right) - shareOf(left))
      .filter((pack) => {
        const isTaken = shareOf(pack) > 1 / 2 || (unused > bound && pack.unusedBytes >= WORTH_BYTES);
        if (isTaken) unused -= pack.unusedBytes;
        return isTaken;
      });
  }
}
