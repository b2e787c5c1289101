import type { Settings } from '../api/host/settings.ts';
import type { Clock } from '../base/clock.ts';
import type { WindowFile } from './user-files/window-file.ts';

/** Called for every piece that moves. */
const READ_EVERY_MS = 500;

/** The current rate from the settings file, which another window may have changed. */
export function createBandwidthRate(windowFile: Pick<WindowFile, 'read'>, clock: Clock) {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let rate: number | undefined;
  return (): number | undefined => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= readAtMs + READ_EVERY_MS) {
      readAtMs = nowMs;
      rate = bandwidthNow(windowFile.read().settings.bandwidth, new Date(clock.nowMs()));
    }
    return rate;
  };
}

/** Bytes a second that the settings allow at this moment, by the machine's own clock; undefined: no limit. */
export function bandwidthNow({ from, limit, to }: Settings['bandwidth'], now: Date): number | undefined {
  if (limit === null) return undefined;
  if (from === undefined || to === undefined || from === to) return limit;
  const time = `${String(now.getHours()).padStart(2, '0')}:${String(now.getMinutes()).padStart(2, '0')}`;
  // From 22:00 to 06:00 spans midnight.
  const isInside = from < to ? from <= time && time < to : from <= time || time < to;
  return isInside ? limit : undefined;
}
