/**
 * The modification time of an object, as rclone keeps it: user metadata `mtime`, decimal seconds since the epoch with up to nine digits
 * of fraction (rclone's S3 documentation, "Modification times": "X-Amz-Meta-Mtime, floating point since the epoch, accurate to 1 ns").
 */
export const MTIME_METADATA = 'mtime';

export interface ObjectTime {
  /** Nanoseconds since the epoch. */
  readonly ns: bigint;
  /** Digits of the seconds' fraction that are known: 0 to 9. */
  readonly digits: number;
}

const NS_PER_SECOND = 1_000_000_000n;
const DECIMAL = /^(-?)(\d{1,11})(?:\.(\d{1,20}))?$/;

export function formatObjectTime(ns: bigint): string {
  const sign = ns < 0n ? '-' : '';
  const magnitude = ns < 0n ? -ns : ns;
  const fraction = (magnitude % NS_PER_SECOND).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${magnitude / NS_PER_SECOND}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Undefined when it is no time. Digits beyond the ninth are dropped. */
export function parseObjectTime(text: string): ObjectTime | undefined {
  const found = DECIMAL.exec(text.trim());
  if (!found) return undefined;
  const [, sign, seconds = '0', fraction = ''] = found;
  const digits = fraction.slice(0, 9);
  const magnitude = BigInt(seconds) * NS_PER_SECOND + BigInt(digits.padEnd(9, '0'));
  // Trailing zeros are left out when a time is written, so a short fraction is an exact one.
  return { ns: sign === '-' ? -magnitude : magnitude, digits: 9 };
}

/** To the precision of the coarser one. */
export function timesEqual(left: ObjectTime, right: ObjectTime): boolean {
  const unit = 10n ** BigInt(9 - Math.min(left.digits, right.digits));
  return left.ns / unit === right.ns / unit;
}
