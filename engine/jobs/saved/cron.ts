/**
 * Cron's five fields (minute, hour, day of month, month, day of week) as crontab(5) has them, with names,
 * lists, ranges, steps and `@daily` and the like. Times are local.
 *
 * A time of day that a change of the clock skips runs once, later by the change (02:30 at 03:30); one that
 * occurs twice runs at its first occurrence. With an hour of `*` (such as every 10 minutes), time that passes
 * counts: both of two equal hours run.
 */
import { DrayError } from '../../api/error.ts';

export interface CronSchedule {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly isHourly: boolean;
  matchesDay(day: Date): boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  // 7 is Sunday too.
  { name: 'day of the week', min: 0, max: 7, names: DAYS },
];

const SHORT: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Leap days are at most eight years apart. */
const DAYS_AHEAD_MAX = 8 * 366 + 1;
const CHARACTERS_MAX = 200;

/** @throws `usage` that names the field */
export function parseCron(expression: string): CronSchedule {
  if (expression.length > CHARACTERS_MAX) throw cronError(`It is longer than ${CHARACTERS_MAX} characters.`);
  const text = expression.trim().toLowerCase();
  const parts = (SHORT[text] ?? text).split(/\s+/);
  if (parts.length !== FIELDS.length)
    throw cronError(`Give five fields: ${FIELDS.map(({ name }) => name).join(', ')}.`);
  const [minutes, hours, days, months, weekdays] = parts.map((part, at) => parseField(part, FIELDS[at]!));
  const weekdaysOf = new Set([...weekdays!].map((day) => day % 7));
  // As in cron: if both kinds of days are restricted, either of them is enough.
  const isEitherDay = !parts[2]!.startsWith('*') && !parts[4]!.startsWith('*');
  const schedule = {
    minutes: [...minutes!].sort((a, b) => a - b),
    hours: [...hours!].sort((a, b) => a - b),
    isHourly: parts[1] === '*',
    matchesDay: (day: Date) => {
      if (!months!.has(day.getMonth() + 1)) return false;
      const isDay = days!.has(day.getDate());
      const isWeekday = weekdaysOf.has(day.getDay());
      return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
    },
  };
  if (nextCronMs(schedule, Date.UTC(2024, 0, 1)) === undefined) throw cronError('No date matches it.');
  return schedule;
}

/** The first time after `afterMs`; undefined if none comes within eight years. */
export function nextCronMs(schedule: CronSchedule, afterMs: number): number | undefined {
  const after = new Date(afterMs);
  // A time of the day before may have been moved into this day by a change of the clock.
  for (let ahead = -1; ahead < DAYS_AHEAD_MAX; ahead += 1) {
    const day = new Date(after.getFullYear(), after.getMonth(), after.getDate() + ahead, 12);
    if (!schedule.matchesDay(day)) continue;
    const found = timesOn(schedule, day).find((timeMs) => timeMs > afterMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** In order. */
function timesOn(schedule: CronSchedule, day: Date): number[] {
  const [year, month, date] = [day.getFullYear(), day.getMonth(), day.getDate()];
  if (schedule.isHourly) {
    const times: number[] = [];
    const startMs = new Date(year, month, date).getTime();
    // A day has 23 to 25 hours.
    for (let timeMs = startMs; timeMs < startMs + DAY_MS + 60 * MINUTE_MS; timeMs += MINUTE_MS) {
      const time = new Date(timeMs);
      if (time.getDate() === date && schedule.minutes.includes(time.getMinutes())) times.push(timeMs);
    }
    return times;
  }
  const all = schedule.hours.flatMap((hour) =>
    // JavaScript moves a skipped time forward by the change, and takes the first of two equal ones.
    schedule.minutes.map((minute) => new Date(year, month, date, hour, minute).getTime()),
  );
  return all.sort((a, b) => a - b);
}

function parseField(text: string, field: Field): Set<number> {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [range = '', step, ...rest] = part.split('/');
    const every = step === undefined ? 1 : /^\d{1,3}$/.test(step) ? Number(step) : Number.NaN;
    if (rest.length > 0 || !(every >= 1)) throw badField(part, field);
    const [first, last] = parseRange(range, step !== undefined, field) ?? [];
    if (first === undefined || last === undefined || first > last) throw badField(part, field);
    for (let value = first; value <= last; value += every) values.add(value);
  }
  return values;
}

function parseRange(
  text: string,
  isStepped: boolean,
  field: Field,
): readonly [number | undefined, number | undefined] | undefined {
  if (text === '*') return [field.min, field.name === 'day of the week' ? 6 : field.max];
  const [from = '', to, ...rest] = text.split('-');
  if (rest.length > 0) return undefined;
  const first = parseValue(from, field);
  if (to !== undefined) return [first, parseValue(to, field)];
  return [first, isStepped ? field.max : first];
}

function parseValue(text: string, { max, min, names }: Field): number | undefined {
  const named = names?.indexOf(text) ?? -1;
  if (named >= 0) return named + min;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function badField(part: string, { max, min, name, names }: Field): DrayError {
  const also = names ? `, or ${names[0]} to ${names.at(-1)}` : '';
  return cronError(`"${part}" is no ${name}: use ${min} to ${max}${also}, with "," "-" "/" and "*".`);
}

function cronError(why: string): DrayError {
  return new DrayError('usage', `The schedule is not valid. ${why}`);
}
