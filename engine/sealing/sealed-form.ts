/**
 * The stored form of sealed content, and its sizes:
 *
 *     "DRS1" | nonce (12) | sealed size (8 + 16) | frame 0 | frame 1 ...
 *     frame: nonce (12) | ciphertext | tag (16)
 *
 * Frames hold 256 KiB of the padded content each, the last one the rest. The cipher is AES-256-GCM under the
 * object's own key. The nonce is random for each write, the same in all of its frames; number n is added to
 * its last four bytes by exclusive or: 0 for the size, i + 1 for frame i. So frames cannot change places, nor
 * be mixed with those of another write unnoticed.
 *
 * The content is padded with zeros to a size that tells little about it (Padmé; Nikitin et al., "Reducing
 * Metadata Leakage from Encrypted Files and Communication with PURBs", PoPETs 2019): at most 12 % more, 3 %
 * above 4 MiB.
 */

/** Half open. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

export const SEAL_MAGIC = Buffer.from('DRS1', 'latin1');
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
export const SIZE_BYTES = 8;
export const HEAD_BYTES = SEAL_MAGIC.length + NONCE_BYTES + SIZE_BYTES + TAG_BYTES;
export const FRAME_BYTES = 256 * 1024;
export const FRAME_EXTRA_BYTES = NONCE_BYTES + TAG_BYTES;
export const STORED_FRAME_BYTES = FRAME_BYTES + FRAME_EXTRA_BYTES;

/** Refs and small commits have sizes below, which tell the length of a name or a message. */
const PADDED_MIN_BYTES = 512;

/** The size of content with its padding. */
export function paddedBytes(sizeBytes: number): number {
  if (sizeBytes <= PADDED_MIN_BYTES) return PADDED_MIN_BYTES;
  const exponent = Math.floor(Math.log2(sizeBytes));
  const step = 2 ** (exponent - Math.floor(Math.log2(exponent)) - 1);
  return Math.ceil(sizeBytes / step) * step;
}

export function frameCount(padded: number): number {
  return Math.ceil(padded / FRAME_BYTES);
}

/** The stored size of content of a padded size. */
export function sealedBytesOf(padded: number): number {
  return HEAD_BYTES + padded + frameCount(padded) * FRAME_EXTRA_BYTES;
}

/** The reverse of `sealedBytesOf`; undefined if nothing sealed has that size. */
export function paddedOf(storedBytes: number): number | undefined {
  const body = storedBytes - HEAD_BYTES;
  const padded = body - Math.ceil(body / STORED_FRAME_BYTES) * FRAME_EXTRA_BYTES;
  return body > 0 && sealedBytesOf(padded) === storedBytes && paddedBytes(padded) === padded
    ? padded
    : undefined;
}

/** Where frame i begins on the store. */
export function frameStart(frame: number): number {
  return HEAD_BYTES + frame * STORED_FRAME_BYTES;
}

/** The frames around a range of the content, and where they are on the store; the first has the head. */
export function framesAround({ end, start }: Extent): {
  readonly first: number;
  readonly stored: Extent;
} {
  const first = Math.floor(start / FRAME_BYTES);
  const from = first === 0 ? 0 : frameStart(first);
  return { first, stored: { start: from, end: frameStart(frameCount(end)) } };
}

/** The most bytes that are read for so much content, whole or from any frame on. */
export function readBytesMax(sizeBytes: number): number {
  return sealedBytesOf(Math.max(paddedBytes(sizeBytes), sizeBytes + 2 * FRAME_BYTES));
}
