/** @param ns Nanoseconds since the epoch. @returns RFC 3339, to the millisecond. */
export function formatMoment(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}
