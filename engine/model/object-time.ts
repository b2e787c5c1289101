/**
 * The modification time of an object, as rclone keeps it: user metadata `mtime`, decimal seconds since the epoch with up to nine digits
 * of fraction (rclone's S3 documentation, "Modification times": "X-Amz-Meta-Mtime, floating point since the epoch, accurate to 1 ns").
 * Zeros at the end are left out, so a short fraction is as exact as a long one, and two times are equal when their nanoseconds are.
 */
export const MTIME_METADATA = 'mtime';

const NS_PER_SECOND = 1_000_000_000n;
/** What rclone reads: digits on one side of the point at least. */
const DECIMAL = /^([+-]?)(?=\.?\d)(\d{0,10})(?:\.(\d{0,20}))?$/;
/** rclone counts nanoseconds in 64 bits, with a sign. */
const NS_BITS = 64;

/** @param ns Nanoseconds since the epoch. */
export function formatObjectTime(ns: bigint): string {
  const sign = ns < 0n ? '-' : '';
  const magnitude = ns < 0n ? -ns : ns;
  const fraction = (magnitude % NS_PER_SECOND).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${magnitude / NS_PER_SECOND}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Nanoseconds since the epoch; undefined when it is no time. Digits beyond the ninth are dropped. */
export function parseObjectTime(text: string): bigint | undefined {
  const found = DECIMAL.exec(text);
  if (!found) return undefined;
  const [, sign, seconds = '', fraction = ''] = found;
  const magnitude = BigInt(seconds) * NS_PER_SECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  const ns = sign === '-' ? -magnitude : magnitude;
  return BigInt.asIntN(NS_BITS, ns) === ns ? ns : undefined;
}
