/**
 * Hashes as points on a line. SHA-256 spreads them evenly, which the sampler relies on.
 *
 * A position is the number in a hash's first 12 hex digits: 48 bits, exact in a double. Ranges are half-open.
 */
import type { BlobHash } from '../../model/entry.ts';

const POSITION_DIGITS = 12;

/** One past the last position. */
export const SPACE = 16 ** POSITION_DIGITS;

export function positionOf(hash: BlobHash): number {
  return Number.parseInt(hash.slice(0, POSITION_DIGITS), 16);
}

/**
 * The `after` that starts a listing at `position`, inclusive. It is shorter than a hash and so sorts before
 * every hash that begins with it. Undefined for the beginning.
 */
export function afterOf(position: number): string | undefined {
  return position === 0 ? undefined : position.toString(16).padStart(POSITION_DIGITS, '0');
}
