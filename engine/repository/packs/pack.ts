/** Builds packs. `pack-format.ts` describes their form. */
import assert from 'node:assert/strict';
import { hash as hashOf, randomBytes } from 'node:crypto';
import type { BlobHash, PackHash } from '../../model/entry.ts';
import {
  INDEX_FIXED_BYTES,
  PACK_MAX_BYTES,
  type PackedBlob,
  ROW_BYTES,
  writePackIndex,
} from './pack-format.ts';

export interface BuiltPack {
  readonly hash: PackHash;
  /** The whole pack, as stored under `packKey(hash)`. */
  readonly bytes: Uint8Array;
  readonly blobs: readonly PackedBlob[];
}

const INITIAL_BYTES = 256 * 1024;
export const SALT_BYTES = 16;

/**
 * Collects blobs in one growing buffer: at most twice the pack in memory while it grows, then only the pack.
 */
export class PackBuilder {
  readonly #blobs = new Map<BlobHash, PackedBlob>();
  #buffer: Buffer;
  #used = 0;
  #isFinished = false;

  /**
   * @param expectedBytes The expected size of the pack: allocated at once, so that nothing is copied as it
   * grows.
   */
  constructor(expectedBytes = 0) {
    this.#buffer = expectedBytes === 0 ? Buffer.alloc(0) : Buffer.allocUnsafeSlow(expectedBytes);
  }

  /**
   * Size of the blobs so far, without the index. Finish the pack when it reaches the layout's `packTarget`.
   */
  get sizeBytes(): number {
    return this.#used;
  }

  get count(): number {
    return this.#blobs.size;
  }

  /**
   * Copies the bytes and returns their offset. A blob that the pack already has is not added again.
   * @param sizeBytes The size of the content if the bytes are its frame.
   */
  add(hash: BlobHash, bytes: Uint8Array, sizeBytes = bytes.length): number {
    assert(!this.#isFinished, 'a blob for a finished pack');
    assert(bytes.length > 0, 'a blob of no bytes is stored nowhere');
    const known = this.#blobs.get(hash);
    if (known) return known.offset;
    const offset = this.#used;
    this.#reserve(offset + bytes.length);
    this.#buffer.set(bytes, offset);
    this.#used += bytes.length;
    const stored = bytes.length === sizeBytes ? {} : { storedBytes: bytes.length };
    this.#blobs.set(hash, { hash, offset, sizeBytes, ...stored });
    return offset;
  }

  /** Copies all blobs of another pack. */
  addAll(other: PackBuilder): void {
    for (const { hash, offset, sizeBytes, storedBytes = sizeBytes } of other.#blobs.values())
      this.add(hash, other.#buffer.subarray(offset, offset + storedBytes), sizeBytes);
  }

  /**
   * Finishes the pack, which needs at least one blob. The builder cannot be used afterwards.
   * @param isTaken Whether the pack must not have this name, because a collection has condemned it. Then it
   * gets one more blob, of random bytes that nobody names, and so another name.
   */
  finish(isTaken: (name: PackHash) => boolean = () => false): BuiltPack {
    assert(!this.#isFinished && this.count > 0, 'a pack without blobs, or finished twice');
    const blobs = [...this.#blobs.values()];
    let built = this.#build();
    if (isTaken(built.hash)) {
      const salt = randomBytes(SALT_BYTES);
      this.add(hashOf('sha256', salt, 'hex') as BlobHash, salt);
      built = this.#build();
    }
    this.#isFinished = true;
    this.#buffer = Buffer.allocUnsafe(0);
    return { ...built, blobs };
  }

  #build(): Pick<BuiltPack, 'hash' | 'bytes'> {
    this.#reserve(this.#used + this.count * ROW_BYTES + INDEX_FIXED_BYTES);
    const blobs = [...this.#blobs.values()];
    const bytes = this.#buffer.subarray(0, writePackIndex(this.#buffer, this.#used, blobs));
    return { hash: hashOf('sha256', bytes, 'hex') as PackHash, bytes };
  }

  /** Doubles the buffer, so that each byte is copied less than twice on average. */
  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    assert(bytes <= PACK_MAX_BYTES, 'a pack larger than the format allows');
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, this.#buffer.length * 2, INITIAL_BYTES));
    larger.set(this.#buffer.subarray(0, this.#used));
    this.#buffer = larger;
  }
}
