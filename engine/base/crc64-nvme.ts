/**
 * CRC-64/NVME and CRC-32, as S3 keeps them of whole objects, and how the sums of two pieces join to that of both in a row.
 * CRC-64/NVME of "123456789" is ae8b14860a799888. Source: NVM Express, NVM Command Set Specification 1.0, section 5.2.1.3.4.
 */
import type { IHasher } from 'hash-wasm';

/** Reflected. */
const POLYNOMIAL_64 = 0x9a6c9329ac4bc9b5n;
const POLYNOMIAL_32 = 0xedb88320n;
const ALL_ONES_64 = 0xffffffffffffffffn;

let hasher: IHasher | undefined;

/** Needed once before `crc64Nvme`. Idempotent. */
export async function loadCrc64(): Promise<void> {
  if (hasher) return;
  const { createCRC64 } = await import('hash-wasm');
  hasher = await createCRC64(POLYNOMIAL_64.toString(16));
}

/** Unsigned. With `previous`, that of earlier bytes: the sum of those and these. */
export function crc64Nvme(bytes: Uint8Array, previous?: bigint): bigint {
  if (!hasher) throw new TypeError('loadCrc64 has to end first.');
  hasher.init().update(bytes);
  const sum = BigInt(`0x${hasher.digest('hex')}`);
  return previous === undefined ? sum : combineCrc64(previous, sum, bytes.byteLength);
}

/** Of two pieces in a row, from the sums of each. */
export function combineCrc64(first: bigint, second: bigint, secondBytes: number): bigint {
  return combine(first, second, { bytes: secondBytes, polynomial: POLYNOMIAL_64, width: 64 });
}

/** Unsigned, as `node:zlib` has it. */
export function combineCrc32(first: number, second: number, secondBytes: number): number {
  const joined = combine(BigInt(first), BigInt(second), {
    bytes: secondBytes,
    polynomial: POLYNOMIAL_32,
    width: 32,
  });
  return Number(joined);
}

interface Field {
  readonly bytes: number;
  readonly polynomial: bigint;
  readonly width: number;
}

/** first x^(8 bytes) + second, over GF(2) modulo the polynomial. */
function combine(first: bigint, second: bigint, { bytes, polynomial, width }: Field): bigint {
  const one = 1n << BigInt(width - 1);
  let power = one >> 8n;
  let shift = one;
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = multiply(shift, power, polynomial, width);
    power = multiply(power, power, polynomial, width);
  }
  return multiply(first, shift, polynomial, width) ^ second;
}

/** Of reflected polynomials: the highest bit is the coefficient of 1. */
function multiply(left: bigint, right: bigint, polynomial: bigint, width: number): bigint {
  let product = 0n;
  let shifted = left & ALL_ONES_64;
  for (let bit = width - 1; bit >= 0; bit -= 1) {
    if ((right >> BigInt(bit)) & 1n) product ^= shifted;
    shifted = shifted & 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n;
  }
  return product;
}
