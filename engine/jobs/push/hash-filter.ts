/**
 * A set of hashes in a fixed 2 MiB. It never misses one; after a million hashes, one answer in sixteen is a
 * false yes.
 */
import type { BlobHash } from '../../model/entry.ts';

export interface HashFilter {
  add(hash: BlobHash): void;
  mayHave(hash: BlobHash): boolean;
}

/** Hexadecimal digits that choose a bit. */
const DIGITS = 6;

export function createHashFilter(): HashFilter {
  const bits = new Uint8Array(16 ** DIGITS / 8);
  const placeOf = (hash: BlobHash) => Number.parseInt(hash.slice(0, DIGITS), 16);
  return {
    add(hash) {
      const place = placeOf(hash);
      bits[place >>> 3]! |= 1 << (place & 7);
    },
    mayHave(hash) {
      const place = placeOf(hash);
      return (bits[place >>> 3]! & (1 << (place & 7))) !== 0;
    },
  };
}
