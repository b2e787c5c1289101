import type { Settings } from '../api/host.ts';

/** Bytes a second that the settings allow at this moment, by the machine's own clock; undefined: any. */
export function bandwidthNow({ from, limit, to }: Settings['bandwidth'], now: Date): number | undefined {
  if (limit === null) return undefined;
  if (from === undefined || to === undefined || from === to) return limit;
  const time = `${String(now.getHours()).padStart(2, '0')}:${String(now.getMinutes()).padStart(2, '0')}`;
  // From 22:00 to 06:00 goes over midnight.
  const isInside = from < to ? from <= time && time < to : from <= time || time < to;
  return isInside ? limit : undefined;
}
