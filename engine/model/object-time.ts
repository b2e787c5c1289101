/**
 * The modification time of an object, as rclone stores it: user metadata `mtime`, decimal seconds since the
 * epoch with up to nine fraction digits (rclone's S3 documentation, "Modification times": "X-Amz-Meta-Mtime,
 * floating point since the epoch, accurate to 1 ns"). Trailing zeros are left out. Two times are equal when
 * their nanoseconds are.
 */
export const MTIME_METADATA = 'mtime';

const NS_PER_SECOND = 1_000_000_000n;
/** The syntax that rclone reads: digits on at least one side of the point. */
const DECIMAL = /^([+-]?)(?=\.?\d)(\d{0,10})(?:\.(\d{0,20}))?$/;
/** rclone counts nanoseconds in signed 64-bit integers. */
const NS_BITS = 64;

/** @param ns Nanoseconds since the epoch. */
export function formatObjectTime(ns: bigint): string {
  const sign = ns < 0n ? '-' : '';
  const magnitude = ns < 0n ? -ns : ns;
  const fraction = (magnitude % NS_PER_SECOND).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${magnitude / NS_PER_SECOND}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * Nanoseconds since the epoch; undefined when the text is not a time. Digits beyond the ninth are dropped.
 */
export function parseObjectTime(text: string): bigint | undefined {
  const found = DECIMAL.exec(text);
  if (!found) return undefined;
  const [, sign, seconds = '', fraction = ''] = found;
  const magnitude = BigInt(seconds) * NS_PER_SECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  const ns = sign === '-' ? -magnitude : magnitude;
  return BigInt.asIntN(NS_BITS, ns) === ns ? ns : undefined;
}
