/** A time in the past as people give it: how long ago, or when. */
import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** `90s`, `30m`, `12h`, `7d`, `2w` ago, or a date or time as in RFC 3339. Milliseconds since the epoch. @throws InvalidArgumentError */
export function parseMoment(text: string): number {
  const ago = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text);
  if (ago) return Date.now() - Number(ago[1]) * UNIT_MS[ago[2]!]!;
  const isDate = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/.test(
    text,
  );
  const time = isDate ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError(
      'It must be a duration such as 7d, 12h or 30m, or a date such as 2026-01-31.',
    );
  }
  return time;
}
