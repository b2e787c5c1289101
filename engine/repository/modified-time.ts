/**
 * A file's modification time as text: `<seconds>.<9 digits>` since the epoch, UTC.
 *
 * As in POSIX `struct timespec`, the seconds are rounded down and the fraction counts forward, so half a
 * second before 1970 is `-1.500000000`. The range is that of signed 64-bit nanoseconds (the years 1677 to
 * 2262); a time beyond it is stored as the nearest bound. One time has one form.
 */
const NANOSECONDS = 1_000_000_000n;
const EARLIEST_NS = -(2n ** 63n);
const LATEST_NS = 2n ** 63n - 1n;
const FORM = /^(0|-?[1-9]\d{0,9})\.(\d{9})$/;

/** @param mtimeNs Nanoseconds since the epoch. */
export function formatModifiedTime(mtimeNs: bigint): string {
  const bounded = mtimeNs < EARLIEST_NS ? EARLIEST_NS : mtimeNs > LATEST_NS ? LATEST_NS : mtimeNs;
  if (bounded >= 0n) {
    const digits = bounded.toString().padStart(10, '0');
    return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
  }
  const fraction = ((bounded % NANOSECONDS) + NANOSECONDS) % NANOSECONDS;
  const seconds = (bounded - fraction) / NANOSECONDS;
  return `${seconds}.${fraction.toString().padStart(9, '0')}`;
}

/** Nanoseconds since the epoch; undefined for any other form than that of `formatModifiedTime`. */
export function parseModifiedTime(text: unknown): bigint | undefined {
  if (typeof text !== 'string') return undefined;
  const match = FORM.exec(text);
  if (!match) return undefined;
  const [, seconds, fraction] = match as unknown as [string, string, string];
  const mtimeNs = seconds.startsWith('-')
    ? BigInt(seconds) * NANOSECONDS + BigInt(fraction)
    : BigInt(seconds + fraction);
  return mtimeNs >= EARLIEST_NS && mtimeNs <= LATEST_NS ? mtimeNs : undefined;
}
