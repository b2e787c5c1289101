/** The recovery key as people write it down: 32 random bytes in base32 (RFC 4648), in groups of four. */
import { randomBytes } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const KEY_BYTES = 32;
const PREFIX = 'DRAY';
const GROUP = /.{1,4}/g;

export function createRecoveryKey(): string {
  return formatRecoveryKey(randomBytes(KEY_BYTES));
}

function formatRecoveryKey(key: Uint8Array): string {
  let text = '';
  let [bits, value] = [0, 0];
  for (const byte of key) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >> (bits - 5)) & 31];
    value &= 0xff;
  }
  if (bits > 0) text += ALPHABET[(value << (5 - bits)) & 31];
  return [PREFIX, ...text.match(GROUP)!].join('-');
}

/** Undefined if the text is none. Case, spaces and hyphens do not matter. */
export function parseRecoveryKey(text: string): Uint8Array | undefined {
  const digits = text.toUpperCase().replaceAll(/[\s-]/g, '');
  if (!digits.startsWith(PREFIX)) return undefined;
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const digit of digits.slice(PREFIX.length)) {
    const number = ALPHABET.indexOf(digit);
    if (number < 0) return undefined;
    value = ((value << 5) | number) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return bytes.length === KEY_BYTES && digits.length === PREFIX.length + 52
    ? Uint8Array.from(bytes)
    : undefined;
}
