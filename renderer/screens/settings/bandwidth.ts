/**
 * A bandwidth limit as people write it: an amount and a unit, and the hours of the day in which it applies.
 */

export type RateUnit = 'KiB/s' | 'MiB/s' | 'GiB/s';

const BYTES: Readonly<Record<RateUnit, number>> = {
  'KiB/s': 1024,
  'MiB/s': 1024 ** 2,
  'GiB/s': 1024 ** 3,
};
/** The engine refuses less than this as a slip. */
const LIMIT_MIN_BYTES = BYTES['KiB/s'];
const MINUTES_OF_DAY = 1440;

/** The largest unit in which the limit is at least 1. */
export function splitRate(bytesPerSecond: number): { readonly amount: number; readonly unit: RateUnit } {
  const unit =
    bytesPerSecond >= BYTES['GiB/s'] ? 'GiB/s' : bytesPerSecond >= BYTES['MiB/s'] ? 'MiB/s' : 'KiB/s';
  return { amount: Math.round((bytesPerSecond / BYTES[unit]) * 100) / 100, unit };
}

/** Whole bytes, at least 1. */
export function joinRate(amount: number, unit: RateUnit): number {
  return Math.max(1, Math.round(amount * BYTES[unit]));
}

/** The error in a typed amount; undefined if it is valid. */
export function refuseAmount(text: string, unit: RateUnit): string | undefined {
  const amount = Number(text);
  if (text.trim() === '' || !Number.isFinite(amount) || amount <= 0) return 'A number above 0.';
  return joinRate(amount, unit) < LIMIT_MIN_BYTES ? '1 KiB/s at least.' : undefined;
}

/** Minutes since midnight of `HH:MM`; undefined if it is not a time of day. */
export function parseTimeOfDay(text: string): number | undefined {
  const match = /^(\d{1,2}):(\d{2})$/.exec(text.trim());
  if (!match) return undefined;
  const [hours, minutes] = [Number(match[1]), Number(match[2])];
  return hours < 24 && minutes < 60 ? hours * 60 + minutes : undefined;
}

export function formatTimeOfDay(minutes: number): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * The parts of one day, in minutes, in which the limit applies: two if it spans midnight, the whole day if
 * its ends are the same.
 */
export function limitedSpans(from: number | undefined, to: number | undefined): Span[] {
  if (from === undefined || to === undefined || from === to) return [{ from: 0, to: MINUTES_OF_DAY }];
  if (from < to) return [{ from, to }];
  const spans = [
    { from: 0, to },
    { from, to: MINUTES_OF_DAY },
  ];
  return spans.filter((span) => span.from < span.to);
}
