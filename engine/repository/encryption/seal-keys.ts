/**
 * The keys of an encrypted repository: all follow from one random master key, by HKDF-SHA256 (RFC 5869) with
 * the repository's id as salt.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import type { RemoteKey } from '../../remotes/object-store.ts';

export const MASTER_KEY_BYTES = 32;

export interface SealKeys {
  /** Four keys of AES-256, for the names of objects (`sealed-names.ts`). */
  readonly names: readonly Uint8Array[];
  /** For `objectCipherKey`. */
  readonly content: Uint8Array;
  /** Seeds the chunker's table: 64 hexadecimal digits. */
  readonly cutter: string;
  /** The descriptor repeats it, so that a slot with another master key shows: 64 hexadecimal digits. */
  readonly check: string;
}

const NAME_ROUNDS = 4;

export function deriveSealKeys(master: Uint8Array, repositoryId: string): SealKeys {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', master, repositoryId, `dray/${use}`, 32));
  return {
    names: Array.from({ length: NAME_ROUNDS }, (_, round) => derive(`names/${round}`)),
    content: derive('content'),
    cutter: derive('cutter').toString('hex'),
    check: derive('check').toString('hex'),
  };
}

/** The key of one object's content, so that content moved to another key does not authenticate. */
export function objectCipherKey({ content }: SealKeys, storedKey: RemoteKey): Uint8Array {
  return createHmac('sha256', content).update(storedKey).digest();
}
