/** How much of each pack is needed. Bounded: beyond that many packs, further ones are not written anew. */
import type { PackHash } from '../../model/entry.ts';
import { SALT_BYTES } from '../../repository/packs/pack.ts';
import { INDEX_FIXED_BYTES, ROW_BYTES } from '../../repository/packs/pack-format.ts';

/** 30 MB of memory; 6 TB in packs of 32 MiB. */
const PACKS_MAX = 200_000;
/** A pack is held in memory while its blobs are copied. */
const PACK_BYTES_MAX = 128 * 1024 * 1024;

export interface SparsePack {
  readonly pack: PackHash;
  readonly sizeBytes: number;
  /** What the blobs that are needed take in a pack. */
  readonly neededBytes: number;
}

export class PackUse {
  readonly #neededBytes = new Map<PackHash, number>();
  readonly #sparse: SparsePack[] = [];

  /** Counts one blob, once. */
  note(pack: PackHash, storedBytes: number): void {
    const known = this.#neededBytes.get(pack);
    if (known === undefined && this.#neededBytes.size >= PACKS_MAX) return;
    this.#neededBytes.set(pack, (known ?? INDEX_FIXED_BYTES) + storedBytes + ROW_BYTES);
  }

  /**
   * Once the mark is made.
   * @param listedBytes The size that a listing shows for so many bytes: an encrypted repository pads them.
   */
  noteSize(pack: PackHash, sizeBytes: number, listedBytes: (sizeBytes: number) => number): void {
    const neededBytes = this.#neededBytes.get(pack);
    if (neededBytes === undefined || sizeBytes > PACK_BYTES_MAX) return;
    // The new pack may have a salt. Else a pack of a few bytes would be written anew each time.
    if (listedBytes(neededBytes + SALT_BYTES + ROW_BYTES) * 2 >= sizeBytes) return;
    this.#sparse.push({ pack, sizeBytes, neededBytes });
  }

  /** The packs of which less than half is needed. */
  get sparse(): readonly SparsePack[] {
    return this.#sparse;
  }
}
