/**
 * Which commits a retention policy keeps: restic's words and rules (its manual, "Removing backup snapshots",
 * as of 0.18). A commit stays if any rule keeps it. Days, weeks and months are those of UTC, so that the
 * result is the same on every machine.
 *
 * - `keepLast`: the newest n commits.
 * - `keepDaily`, `keepWeekly`, `keepMonthly`: of each of the last n days, ISO weeks or months that have a
 *   commit, the newest one.
 *   While a rule has places left, it also keeps the oldest commit, so that the history reaches back as far as
 *   it does (restic from 0.16 on).
 * - `keepWithin`: what is newer than the newest commit minus the duration. A commit of the future does not
 *   count as the newest, because a wrong clock must not make all others old.
 * - `keepTags`: every commit with a tag that one of the patterns matches.
 */
import { DrayError, quotedExcerpt } from '../api/error.ts';
import type { KeepRule } from '../api/events.ts';
import type { RetentionPolicy } from '../api/jobs/jobs.ts';
import type { CommitHash } from './entry.ts';
import { compilePathPatterns } from './patterns/path-pattern.ts';

export interface DatedCommit {
  readonly hash: CommitHash;
  readonly timeMs: number;
  /** Without `tags/`. */
  readonly tags: readonly string[];
}

const DAY_MS = 86_400_000;
/** The day 0 was a Thursday, and ISO weeks begin on Monday. */
const MONDAY_BEFORE_DAY_0 = 3;

/** A commit takes one of a rule's n places if its period is not that of the next newer commit. */
const COUNTED: readonly {
  readonly rule: KeepRule;
  readonly placesOf: (policy: RetentionPolicy) => number | undefined;
  readonly periodOf: (timeMs: number, at: number) => number;
}[] = [
  { rule: 'last', placesOf: (policy) => policy.keepLast, periodOf: (_, at) => at },
  { rule: 'daily', placesOf: (policy) => policy.keepDaily, periodOf: dayOf },
  {
    rule: 'weekly',
    placesOf: (policy) => policy.keepWeekly,
    periodOf: (timeMs) => Math.floor((dayOf(timeMs) + MONDAY_BEFORE_DAY_0) / 7),
  },
  { rule: 'monthly', placesOf: (policy) => policy.keepMonthly, periodOf: monthOf },
];

/** The commits that stay, and by which rules; in the order of time, the newest first. */
export function applyRetention(
  policy: RetentionPolicy,
  commits: readonly DatedCommit[],
  nowMs: number,
): ReadonlyMap<CommitHash, readonly KeepRule[]> {
  const newestFirst = commits.toSorted((left, right) => right.timeMs - left.timeMs);
  const rules: Rule[] = COUNTED.map(({ rule, placesOf, periodOf }) =>
    countedRule(rule, placesOf(policy) ?? 0, periodOf),
  );
  if (policy.keepWithin !== undefined) rules.push(withinRule(policy.keepWithin, newestFirst, nowMs));
  const isKeptTag = tagMatcher(policy.keepTags ?? []);
  rules.push({ rule: 'tag', keeps: ({ tags }) => tags.some(isKeptTag) });
  const kept = new Map<CommitHash, readonly KeepRule[]>();
  for (const [at, commit] of newestFirst.entries()) {
    const place = { at, isOldest: at === newestFirst.length - 1 };
    const by = rules.filter(({ keeps }) => keeps(commit, place)).map(({ rule }) => rule);
    if (by.length > 0) kept.set(commit.hash, by);
  }
  return kept;
}

/** True for a policy without a rule: it says nothing about any commit. */
export function isEmptyPolicy({ keepTags = [], keepWithin, ...counts }: RetentionPolicy): boolean {
  return keepTags.length === 0 && keepWithin === undefined && !Object.values(counts).some((n) => n > 0);
}

/** Whether a tag matches one of the patterns, which begin at the name's start. @throws `usage` */
export function tagMatcher(globs: readonly string[]): (tag: string) => boolean {
  const patterns = compilePathPatterns(globs.map((glob) => `/${glob}`));
  return (tag) => patterns.matchesOf(tag).length > 0;
}

interface Span {
  readonly years: number;
  readonly months: number;
  readonly days: number;
  readonly hours: number;
}

const UNITS = { y: 'years', m: 'months', d: 'days', h: 'hours' } as const;
const NUMBER_MAX = 100_000;

/** A duration such as `30d` or `1y5m7d2h`: years, months, days, hours. @throws `usage` */
export function parseKeepWithin(text: string): Span {
  const span = { years: 0, months: 0, days: 0, hours: 0 };
  if (/^(?:\d{1,6}[ymdh])+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+)([ymdh])/g)];
    for (const [, digits, unit] of parts) span[UNITS[unit as keyof typeof UNITS]] = Number(digits);
    if (Object.values(span).every((count) => count <= NUMBER_MAX)) return span;
  }
  const message = `${quotedExcerpt(text)} is no duration. Write years, months, days and hours, such as 30d or 1y6m.`;
  throw new DrayError('usage', message, { data: { value: text } });
}

interface Place {
  /** 0 is the newest. */
  readonly at: number;
  readonly isOldest: boolean;
}

interface Rule {
  readonly rule: KeepRule;
  /** Called once for each commit, the newest first. */
  readonly keeps: (commit: DatedCommit, place: Place) => boolean;
}

function countedRule(rule: KeepRule, places: number, periodOf: (timeMs: number, at: number) => number): Rule {
  let left = places;
  let last: number | undefined;
  return {
    rule,
    keeps: ({ timeMs }, { at, isOldest }) => {
      const period = periodOf(timeMs, at);
      if (left <= 0 || (period === last && !isOldest)) return false;
      left -= 1;
      last = period;
      return true;
    },
  };
}

function withinRule(keepWithin: string, newestFirst: readonly DatedCommit[], nowMs: number): Rule {
  const newest = newestFirst.find(({ timeMs }) => timeMs < nowMs);
  const afterMs = newest ? before(newest.timeMs, parseKeepWithin(keepWithin)) : Number.NEGATIVE_INFINITY;
  return { rule: 'within', keeps: ({ timeMs }) => timeMs > afterMs };
}

/** As in a calendar: one month before 31 March is 31 February, which is 3 March. */
function before(timeMs: number, { days, hours, months, years }: Span): number {
  const time = new Date(timeMs);
  time.setUTCFullYear(time.getUTCFullYear() - years, time.getUTCMonth() - months, time.getUTCDate() - days);
  return time.getTime() - hours * 3_600_000;
}

function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

function monthOf(timeMs: number): number {
  const time = new Date(timeMs);
  return time.getUTCFullYear() * 12 + time.getUTCMonth();
}
