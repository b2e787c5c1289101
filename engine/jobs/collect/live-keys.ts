/**
 * The keys that commits need, in about 11 bytes each: an open-addressing table of their names, cut to 64
 * bits.
 *
 * A key that is not in the set is not needed, with certainty. A key that is in the set may be another one
 * with the same 64 bits: that spares an object that nobody needs and never removes one. Names are SHA-256, so
 * they spread evenly and need no further hashing.
 */
import type { RemoteKey } from '../../remotes/object-store.ts';

/** By the first byte of the name, so that a growing table is a small part of all. */
const SHARDS = 256;
/**
 * A table is made of blocks of 16 KiB, which are never freed: growing arrays left holes of half their size in
 * the memory of the process.
 */
const BLOCK_SLOTS = 2_048;
const BLOCK_BITS = 11;
/** Small steps: a doubled table would be half empty. */
const GROWTH = 1.2;
const LOAD_MAX = 0.85;
/** `ab/` and 62 digits. */
const NAME_LENGTH = 65;
/** Odd numbers that spread kinds and suffixes over all bits (the golden ratio, and MurmurHash3's). */
const KIND_SPREAD = 0x9e3779b1;
const SUFFIX_SPREAD = 0x85ebca6b;

/** Pairs of the two halves of a key. A slot is free if the first is 0. */
type Block = Uint32Array;

export class LiveKeys {
  readonly #shards: Block[][] = Array.from({ length: SHARDS }, () => []);
  readonly #counts = new Uint32Array(SHARDS);
  #size = 0;
  #scratch = new Uint32Array(0);
  /** The two halves of the last key that was cut. */
  #high = 0;
  #low = 0;
  /** Where it is, or the free slot where it belongs. */
  #block: Block = this.#scratch;
  #at = 0;

  get size(): number {
    return this.#size;
  }

  /** @param key `KIND/ab/<62 hex>`, with or without a suffix. */
  has(key: RemoteKey): boolean {
    this.#cut(key);
    const shard = this.#shards[this.#high >>> 24]!;
    return shard.length > 0 && this.#find(shard);
  }

  /** @returns False if the set has it already. */
  add(key: RemoteKey): boolean {
    this.#cut(key);
    const number = this.#high >>> 24;
    const shard = this.#shards[number]!;
    if (shard.length > 0 && this.#find(shard)) return false;
    if (this.#counts[number]! >= Math.floor(shard.length * BLOCK_SLOTS * LOAD_MAX)) {
      const [high, low] = [this.#high, this.#low];
      this.#grow(shard);
      this.#high = high;
      this.#low = low;
      this.#find(shard);
    }
    this.#put();
    this.#counts[number]! += 1;
    this.#size += 1;
    return true;
  }

  #find(shard: readonly Block[]): boolean {
    const slots = shard.length * BLOCK_SLOTS;
    for (let slot = Math.floor((this.#low / 2 ** 32) * slots); ; slot = slot + 1 === slots ? 0 : slot + 1) {
      const block = shard[slot >>> BLOCK_BITS]!;
      const at = (slot % BLOCK_SLOTS) * 2;
      const isFree = block[at] === 0;
      if (!isFree && (block[at] !== this.#low || block[at + 1] !== this.#high)) continue;
      this.#block = block;
      this.#at = at;
      return !isFree;
    }
  }

  #put(): void {
    this.#block[this.#at] = this.#low;
    this.#block[this.#at + 1] = this.#high;
  }

  #grow(shard: Block[]): void {
    const length = shard.length * BLOCK_SLOTS * 2;
    if (this.#scratch.length < length) this.#scratch = new Uint32Array(length);
    for (const [number, block] of shard.entries()) {
      this.#scratch.set(block, number * BLOCK_SLOTS * 2);
      block.fill(0);
    }
    const blocks = Math.floor(shard.length * GROWTH + 1);
    while (shard.length < blocks) shard.push(new Uint32Array(BLOCK_SLOTS * 2));
    for (let at = 0; at < length; at += 2) {
      if (this.#scratch[at] === 0) continue;
      this.#low = this.#scratch[at]!;
      this.#high = this.#scratch[at + 1]!;
      this.#find(shard);
      this.#put();
    }
  }

  #cut(key: RemoteKey): void {
    const start = key.indexOf('/') + 1;
    let high = 0;
    for (let at = start; at < start + 9; at += 1)
      if (at !== start + 2) high = (high << 4) | digitOf(key.charCodeAt(at));
    let low = 0;
    for (let at = start + 9; at < start + 17; at += 1) low = (low << 4) | digitOf(key.charCodeAt(at));
    low ^= Math.imul(key.charCodeAt(0), KIND_SPREAD);
    for (let at = start + NAME_LENGTH; at < key.length; at += 1)
      low = Math.imul(low ^ key.charCodeAt(at), SUFFIX_SPREAD);
    this.#high = high >>> 0;
    // 0 marks a free slot.
    this.#low = low >>> 0 || 1;
  }
}

function digitOf(code: number): number {
  return code < 58 ? code - 48 : code - 87;
}
