import { describe, expect, it } from 'vitest';
import type { KeepRule } from '../api/events.ts';
import type { RetentionPolicy } from '../api/jobs/jobs.ts';
import type { CommitHash } from './entry.ts';
import {
  applyRetention,
  type DatedCommit,
  isEmptyPolicy,
  parseKeepWithin,
  tagMatcher,
} from './retention-policy.ts';

const NOW_MS = Date.parse('2026-03-01T00:00:00Z');

/** A commit named by its time, and its tags: `2026-01-31 12:00 v1 v2`. */
function commitAt(text: string): DatedCommit {
  const [day, hour, ...tags] = text.split(' ');
  return { hash: `${day} ${hour}` as CommitHash, timeMs: Date.parse(`${day}T${hour}:00Z`), tags };
}

/** The kept commits and the rules that keep them, such as `2026-01-31 12:00 last daily`. */
function keptOf(policy: RetentionPolicy, times: readonly string[], nowMs = NOW_MS): string[] {
  const kept = applyRetention(policy, times.map(commitAt), nowMs);
  return [...kept].map(([hash, rules]) => [hash, ...rules].join(' '));
}

/** One commit at noon of each day. */
function everyDay(first: string, days: number): string[] {
  const firstMs = Date.parse(`${first}T12:00:00Z`);
  return Array.from({ length: days }, (_, day) =>
    new Date(firstMs + day * 86_400_000).toISOString().slice(0, 16).replace('T', ' '),
  );
}

describe('a retention policy', () => {
  it.each<[string, RetentionPolicy, readonly string[], readonly string[]]>([
    [
      'keeps the newest n, in any order of the list',
      { keepLast: 2 },
      ['2026-01-02 10:00', '2026-01-04 10:00', '2026-01-03 10:00', '2026-01-01 10:00'],
      ['2026-01-04 10:00 last', '2026-01-03 10:00 last'],
    ],
    [
      'keeps the newest of each day, and counts only days with a commit',
      { keepDaily: 2 },
      ['2026-01-09 08:00', '2026-01-09 23:59', '2026-01-05 00:00', '2026-01-05 23:00', '2026-01-04 23:59'],
      ['2026-01-09 23:59 daily', '2026-01-05 23:00 daily'],
    ],
    [
      'keeps the newest of each ISO week, which begins on Monday and crosses the year',
      { keepWeekly: 3 },
      // Monday 2025-12-29 to Sunday 2026-01-04 is week 1 of 2026.
      ['2026-01-05 00:00', '2026-01-04 23:59', '2025-12-29 00:00', '2025-12-28 23:59', '2025-12-21 12:00'],
      ['2026-01-05 00:00 weekly', '2026-01-04 23:59 weekly', '2025-12-28 23:59 weekly'],
    ],
    [
      'keeps the newest of each month, and tells the same month of two years apart',
      { keepMonthly: 4 },
      ['2026-01-31 23:59', '2026-01-01 00:00', '2025-12-31 23:59', '2025-01-31 12:00', '2024-01-31 12:00'],
      [
        '2026-01-31 23:59 monthly',
        '2025-12-31 23:59 monthly',
        '2025-01-31 12:00 monthly',
        '2024-01-31 12:00 monthly',
      ],
    ],
    [
      'keeps what is newer than the duration before the newest commit, not before now',
      { keepWithin: '2d' },
      ['2026-01-10 12:00', '2026-01-08 12:01', '2026-01-08 12:00', '2026-01-07 12:00'],
      ['2026-01-10 12:00 within', '2026-01-08 12:01 within'],
    ],
    [
      'counts a duration of months as a calendar does',
      { keepWithin: '1m' },
      // One month before 31 March is 31 February: 3 March.
      ['2025-03-31 12:00', '2025-03-03 12:01', '2025-03-03 12:00', '2025-03-01 12:00'],
      ['2025-03-31 12:00 within', '2025-03-03 12:01 within'],
    ],
    [
      'does not measure from a commit of the future',
      { keepWithin: '1d' },
      ['2027-01-01 12:00', '2026-02-20 12:00', '2026-02-19 13:00', '2026-02-18 12:00'],
      ['2027-01-01 12:00 within', '2026-02-20 12:00 within', '2026-02-19 13:00 within'],
    ],
    [
      'keeps what has a matching tag, without counting it',
      { keepLast: 1, keepTags: ['v*', 'release/**'] },
      ['2026-01-05 10:00', '2026-01-04 10:00 old', '2026-01-03 10:00 v1', '2026-01-02 10:00 x release/1'],
      ['2026-01-05 10:00 last', '2026-01-03 10:00 tag', '2026-01-02 10:00 tag'],
    ],
    [
      'keeps what any rule keeps, and names all of them',
      { keepLast: 1, keepDaily: 2, keepWeekly: 2, keepMonthly: 2 },
      everyDay('2026-01-20', 15),
      [
        '2026-02-03 12:00 last daily weekly monthly',
        '2026-02-02 12:00 daily',
        '2026-02-01 12:00 weekly',
        '2026-01-31 12:00 monthly',
      ],
    ],
    ['keeps nothing by a rule of zero', { keepLast: 0, keepDaily: 0 }, everyDay('2026-01-20', 3), []],
    [
      'keeps the oldest too while a rule has places left, as restic from 0.16 on',
      { keepDaily: 3, keepMonthly: 1 },
      ['2026-01-09 08:00', '2026-01-05 12:00', '2026-01-05 11:00', '2026-01-05 10:00'],
      ['2026-01-09 08:00 daily monthly', '2026-01-05 12:00 daily', '2026-01-05 10:00 daily'],
    ],
    [
      'keeps the oldest by each rule that has places left, and once if its period has a place',
      { keepDaily: 5, keepWeekly: 2, keepMonthly: 9 },
      ['2026-01-09 08:00', '2026-01-08 09:00', '2026-01-08 08:00'],
      [
        '2026-01-09 08:00 daily weekly monthly',
        '2026-01-08 09:00 daily',
        '2026-01-08 08:00 daily weekly monthly',
      ],
    ],
    [
      'drops the oldest once the rule is filled',
      { keepDaily: 2 },
      ['2026-01-09 08:00', '2026-01-05 12:00', '2026-01-05 11:00'],
      ['2026-01-09 08:00 daily', '2026-01-05 12:00 daily'],
    ],
  ])('%s', (_, policy, times, expected) => {
    expect(keptOf(policy, times)).toEqual(expected);
  });

  it('keeps everything by age when all commits are of the future', () => {
    const times = everyDay('2027-01-01', 3);
    expect(keptOf({ keepWithin: '1h' }, times)).toHaveLength(3);
  });

  it('decides about a year of days as the manual counts', () => {
    const kept = keptOf({ keepDaily: 7, keepWeekly: 5, keepMonthly: 12 }, everyDay('2025-01-01', 365));
    const by = (rule: KeepRule) => kept.filter((line) => line.split(' ').includes(rule)).length;
    expect([by('daily'), by('weekly'), by('monthly')]).toEqual([7, 5, 12]);
  });
});

describe('a policy without a rule', () => {
  it.each<[boolean, RetentionPolicy]>([
    [true, {}],
    [true, { keepLast: 0, keepTags: [] }],
    [false, { keepLast: 1 }],
    [false, { keepWithin: '1d' }],
    [false, { keepTags: ['v*'] }],
  ])('is recognised: %s for %o', (isEmpty, policy) => {
    expect(isEmptyPolicy(policy)).toBe(isEmpty);
  });
});

describe('a duration', () => {
  it.each([
    ['30d', { years: 0, months: 0, days: 30, hours: 0 }],
    ['1y5m7d2h', { years: 1, months: 5, days: 7, hours: 2 }],
    ['12h', { years: 0, months: 0, days: 0, hours: 12 }],
  ])('%s is read as restic reads it', (text, span) => {
    expect(parseKeepWithin(text)).toEqual(span);
  });

  it.each(['', '30', 'd', '30 d', '-1d', '1w', '1.5d', '999999d'])('%j is refused', (text) => {
    expect(() => parseKeepWithin(text)).toThrow('is no duration');
  });
});

describe('a pattern of tags', () => {
  it.each([
    [true, 'v1', 'v1'],
    [false, 'v1', 'v10'],
    [true, 'v*', 'v10'],
    [false, 'v*', 'old-v1'],
    [false, 'v*', 'v/1'],
    [true, 'v**', 'v/1'],
    [true, '{a,b}?', 'b2'],
  ])('gives %s for %s and the tag %s', (matches, glob, tag) => {
    expect(tagMatcher([glob])(tag)).toBe(matches);
  });

  it('is refused when it cannot be read', () => {
    expect(() => tagMatcher(['v[1'])).toThrow('invalid');
  });
});
