import { describe, expect, it } from 'vitest';
import type { CommitHash } from './entry.ts';
import { type GrowthSpan, spansFrom, withCommit } from './growth.ts';

const NOW = Date.UTC(2026, 5, 15);
const hash = (at: number) => `commit-${at}` as CommitHash;

/** Commit `at` of a line of one commit a week; its size is `at` bytes. */
function commitAt(at: number) {
  const parent = at === 0 ? undefined : hash(at - 1);
  return { parent, timeMs: Date.UTC(2026, 0, 1 + 7 * at), bytes: at, files: 1 };
}

/** Reads at most `most` commits from this tip, and notes which. */
function read(
  spans: readonly GrowthSpan[],
  { most, tip, seen }: { most: number; tip: number; seen: number[] },
) {
  let known = spansFrom(spans, hash(tip));
  for (let left = most; left > 0 && known[0]!.next !== undefined; left -= 1) {
    const at = Number(known[0]!.next.slice('commit-'.length));
    seen.push(at);
    known = withCommit(known, commitAt(at), NOW);
  }
  return known;
}

describe('the growth of a repository', () => {
  it('has the totals of the last commit of each month', () => {
    const [span, ...rest] = read([], { most: 100, tip: 9, seen: [] });
    expect(rest).toEqual([]);
    expect(span).toEqual({
      newest: hash(9),
      commits: 10,
      months: [
        { month: '2026-03', bytes: 9, files: 1, commits: 1 },
        { month: '2026-02', bytes: 8, files: 1, commits: 4 },
        { month: '2026-01', bytes: 4, files: 1, commits: 5 },
      ],
    });
  });

  it('reads no commit twice after interruptions', () => {
    const seen: number[] = [];
    let spans = read([], { most: 3, tip: 9, seen });
    spans = read(spans, { most: 2, tip: 14, seen });
    spans = read(spans, { most: 1, tip: 18, seen });
    expect(spans.map(({ newest }) => newest)).toEqual([hash(18), hash(14), hash(9)]);
    spans = read(spans, { most: 100, tip: 18, seen });
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 19 }, (_, at) => at));
    expect(spans).toEqual(read([], { most: 100, tip: 18, seen: [] }));
  });

  it('drops commits that the branch no longer reaches', () => {
    const known = read([], { most: 100, tip: 9, seen: [] });
    const seen: number[] = [];
    const back = read(known, { most: 100, tip: 4, seen });
    expect(seen).toEqual([4, 3, 2, 1, 0]);
    expect(back.map(({ newest }) => newest)).toEqual([hash(4)]);
  });

  it('counts a commit from the future in the current month, and keeps ten years at most', () => {
    const far = withCommit(spansFrom([], hash(1)), { ...commitAt(1), timeMs: 8.64e15 }, NOW);
    expect(far[0]!.months[0]!.month).toBe('2026-06');
    let spans = spansFrom([], hash(400));
    for (let at = 400; at > 0; at -= 1)
      spans = withCommit(spans, { ...commitAt(at), timeMs: Date.UTC(1990, at, 1) }, NOW);
    expect(spans[0]!.months.length).toBe(120);
    expect(spans[0]!.months[0]!.month).toBe('2023-05');
  });
});
