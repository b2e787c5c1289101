/**
 * Joins the CRCs of two pieces to that of both in a row: first x^(8 bytes) + second, over GF(2) modulo the
 * polynomial. The sums are inverted before and after, and both inversions cancel out.
 */

/** CRC-64/NVME. All polynomials here are reflected: the highest bit is the coefficient of 1. */
export const POLYNOMIAL_64 = 0x9a6c9329ac4bc9b5n;
/** CRC-32 as in zlib. */
const POLYNOMIAL_32 = 0xedb88320n;

interface Field {
  readonly polynomial: bigint;
  readonly width: number;
  /** x^(8 * 2^k) for each k so far needed. */
  readonly powers: bigint[];
}

const FIELD_64 = openField(POLYNOMIAL_64, 64);
const FIELD_32 = openField(POLYNOMIAL_32, 32);

/** Joins the sums of two pieces in a row. Unsigned. */
export function combineCrc64(first: bigint, second: bigint, secondBytes: number): bigint {
  return shiftBytes(FIELD_64, first, secondBytes) ^ second;
}

/** As `combineCrc64`. Unsigned, as `node:zlib` has it. */
export function combineCrc32(first: number, second: number, secondBytes: number): number {
  return Number(shiftBytes(FIELD_32, BigInt(first), secondBytes) ^ BigInt(second));
}

function openField(polynomial: bigint, width: number): Field {
  return { polynomial, width, powers: [1n << BigInt(width - 1 - 8)] };
}

/** One multiplication for each bit that is set in `bytes`. */
function shiftBytes(field: Field, value: bigint, bytes: number): bigint {
  const { powers } = field;
  let shifted = value;
  for (let bit = 0, left = bytes; left > 0 && shifted !== 0n; bit += 1, left = Math.floor(left / 2)) {
    const power = powers[bit] ?? multiply(field, powers[bit - 1]!, powers[bit - 1]!);
    powers[bit] = power;
    if (left % 2 === 1) shifted = multiply(field, shifted, power);
  }
  return shifted;
}

function multiply({ polynomial, width }: Field, left: bigint, right: bigint): bigint {
  let product = 0n;
  let shifted = left;
  for (let bit = width - 1; bit >= 0; bit -= 1) {
    if ((right >> BigInt(bit)) & 1n) product ^= shifted;
    shifted = shifted & 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n;
  }
  return product;
}
