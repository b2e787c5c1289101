/** Numbers and times for people, in the words of the command line. */
import { formatBytes, formatDuration } from '../../engine/api/text/numbers.ts';

/** `86.0 MiB/s`. */
export function formatRate(bytesPerSecond: number): string {
  return `${formatBytes(bytesPerSecond)}/s`;
}

/** Like `formatDuration`, from seconds. */
export function formatSeconds(seconds: number): string {
  return formatDuration(seconds * 1000);
}

/**
 * `20 Nov 2026, 16:40`, in the reader's time zone. An invalid time is shown unchanged, so that a date never
 * breaks a screen.
 */
export function formatMoment(moment: string | number): string {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? String(moment) : MOMENT.format(date);
}

const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const CLOCK_SECONDS = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** `16:40`, in the reader's time zone. */
export function formatClock(ms: number): string {
  return CLOCK.format(ms);
}

/** `16:40:05`, in the reader's time zone. */
export function formatClockSeconds(ms: number): string {
  return CLOCK_SECONDS.format(ms);
}

const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `yesterday`, `3 hours ago`, `just now`. */
export function formatAgo(moment: string | number, nowMs = Date.now()): string {
  const seconds = (new Date(moment).getTime() - nowMs) / 1000;
  const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
  return step ? AGO.format(Math.trunc(seconds / step[1]), step[0]) : 'just now';
}
