/**
 * The growth of a repository by month, from the commits along the first parents of a branch.
 *
 * The history may be read in parts. A span is a part without gaps; the newest span comes first. A span that
 * reaches the newest commit of an older span is joined with it, so no commit is read twice.
 */
import type { CommitHash } from './entry.ts';

export interface MonthTotals {
  /** Such as `2026-01`, UTC. */
  readonly month: string;
  /** The total size of the month's newest commit. */
  readonly bytes: number;
  readonly files: number;
  readonly commits: number;
}

export interface GrowthSpan {
  readonly newest: CommitHash;
  /** The commit to read next. Absent if the span reaches the first commit. */
  readonly next?: CommitHash;
  readonly commits: number;
  /** The newest month first. */
  readonly months: readonly MonthTotals[];
}

export interface GrowthCommit {
  readonly parent: CommitHash | undefined;
  readonly timeMs: number;
  readonly bytes: number;
  readonly files: number;
}

/** Bounds the spans that remain after a branch was reset. */
const SPANS_MAX = 4;
/** Ten years. */
const MONTHS_MAX = 120;

/** The spans, with a span of this tip first. */
export function spansFrom(spans: readonly GrowthSpan[], tip: CommitHash): readonly GrowthSpan[] {
  const at = spans.findIndex(({ newest }) => newest === tip);
  if (at >= 0) return spans.slice(at);
  return [{ newest: tip, next: tip, commits: 0, months: [] }, ...spans].slice(0, SPANS_MAX);
}

/**
 * Adds the commit `next` to the first span. A time in the future counts as now, because a commit with a wrong
 * time must not stretch the plot.
 */
export function withCommit(
  [first, ...older]: readonly GrowthSpan[],
  { bytes, files, parent, timeMs }: GrowthCommit,
  nowMs: number,
): readonly GrowthSpan[] {
  if (!first) return [];
  const month = new Date(Math.min(Math.max(0, timeMs), nowMs)).toISOString().slice(0, 'yyyy-mm'.length);
  const months = joinMonths(first.months, [{ month, bytes, files, commits: 1 }]);
  const grown = { newest: first.newest, commits: first.commits + 1, months };
  if (parent === undefined) return [grown];
  const at = older.findIndex(({ newest }) => newest === parent);
  if (at < 0) return [{ ...grown, next: parent }, ...older];
  return [joinSpans(grown, older[at]!), ...older.slice(at + 1)];
}

function joinSpans(newer: GrowthSpan, { commits, months, next }: GrowthSpan): GrowthSpan {
  return {
    newest: newer.newest,
    ...(next === undefined ? {} : { next }),
    commits: newer.commits + commits,
    months: joinMonths(newer.months, months),
  };
}

/** The newer totals count for a month that both have. */
function joinMonths(newer: readonly MonthTotals[], older: readonly MonthTotals[]): readonly MonthTotals[] {
  const byMonth = new Map(newer.map((totals) => [totals.month, totals]));
  for (const totals of older) {
    const known = byMonth.get(totals.month);
    byMonth.set(totals.month, known ? { ...known, commits: known.commits + totals.commits } : totals);
  }
  return [...byMonth.values()].sort((a, b) => (a.month < b.month ? 1 : -1)).slice(0, MONTHS_MAX);
}
