/** Parses a time in the past: how long ago, or a date. */
import { InvalidArgumentError } from 'commander';
import { systemClock } from '../../../engine/base/clock.ts';
import { UNIT_MS } from '../options/parse-pause.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/;

/**
 * `90s`, `30m`, `12h`, `7d`, `2w` ago; or a date, or a time as in RFC 3339. Uses this machine's time zone
 * unless the text names one. Returns milliseconds since the epoch. @throws InvalidArgumentError
 */
export function parseMoment(text: string, nowMs: number): number {
  const ago = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text);
  if (ago) return Math.round(nowMs - Number(ago[1]) * UNIT_MS[ago[2]!]!);
  // JavaScript reads a date without a time as UTC.
  const moment = DATE.test(text) ? `${text}T00:00` : TIME.test(text) ? text.replace(' ', 'T') : '';
  const time = Date.parse(moment);
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError(
      'It must be a duration such as 7d, 12h or 30m, or a date such as 2026-01-31.',
    );
  }
  return time;
}

export function parseMomentOption(text: string): number {
  return parseMoment(text, systemClock.nowMs());
}
