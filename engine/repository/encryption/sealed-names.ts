/**
 * Keyed names: the hash in a key of an object is replaced on the store by its image under a permutation that
 * only the keys' owners know. So names confirm no guess about content, and everything above the store goes on
 * to use plain hashes: entries, the index, and packs are the same as in other repositories.
 *
 * The permutation of 256 bits is a Feistel network of four rounds (Luby and Rackoff, SIAM J. Comput. 1988: a
 * strong pseudorandom permutation), whose round function is AES-256 of one half of the hash:
 *
 *     (L, R) -> (R, L xor AES(names[round], R)), for rounds 0 to 3
 */
import { type Cipheriv, createCipheriv } from 'node:crypto';
import type { RemoteKey } from '../../remotes/object-store.ts';

export interface SealedNames {
  /** The key on the store. A key without a hash stays as it is. */
  storedKey(key: RemoteKey): RemoteKey;
  /** The reverse. */
  plainKey(storedKey: RemoteKey): RemoteKey;
}

/** Kind, hash, and generation of the keys whose names are hashes. */
const NAMED =
  /^((?:objects|packs|relocations|manifests|commits|collection)\/)([0-9a-f]{2})\/([0-9a-f]{62})(\.[1-9][0-9]*)?$/;
const HALF_BYTES = 16;

export function createSealedNames(keys: readonly Uint8Array[]): SealedNames {
  // ECB of single blocks, one after another: the cipher has no state between them.
  const rounds = keys.map((key) => createCipheriv('aes-256-ecb', key, null).setAutoPadding(false));
  const backwards = rounds.toReversed();
  return {
    storedKey: (key) => renamed(key, (hash) => permute(hash, rounds)),
    plainKey: (storedKey) => renamed(storedKey, (hash) => swapped(permute(swapped(hash), backwards))),
  };
}

function renamed(key: RemoteKey, change: (hash: Buffer) => Buffer): RemoteKey {
  const match = NAMED.exec(key);
  if (!match) return key;
  const [, kind = '', fanout = '', rest = '', generation = ''] = match;
  const name = change(Buffer.from(fanout + rest, 'hex')).toString('hex');
  return `${kind}${name.slice(0, 2)}/${name.slice(2)}${generation}`;
}

function permute(hash: Buffer, rounds: readonly Cipheriv[]): Buffer {
  let [left, right] = [hash.subarray(0, HALF_BYTES), hash.subarray(HALF_BYTES)];
  for (const round of rounds) {
    const mixed = round.update(right);
    for (let at = 0; at < HALF_BYTES; at += 1) mixed[at]! ^= left[at]!;
    [left, right] = [right, mixed];
  }
  return Buffer.concat([left, right]);
}

/** A Feistel network runs backwards on swapped halves, with its rounds reversed. */
function swapped(hash: Buffer): Buffer {
  return Buffer.concat([hash.subarray(HALF_BYTES), hash.subarray(0, HALF_BYTES)]);
}
