/** The table of what jobs took when somebody last looked, and how a run is held against it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { formatCount } from '../../engine/api/numbers.ts';

/** Group (`requests`, `wire`, `calls`, `kernel`, `serving`) to name to number. A name that is absent counts as 0. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** By the names of jobs. */
export type PinnedCounts = Readonly<Record<string, Counts>>;

export interface Difference {
  readonly group: string;
  readonly count: string;
  readonly was: number;
  readonly is: number;
  readonly slack: number;
}

/** What each remote charges for, what latency multiplies, and what keeps data safe: not one more, and not one less. */
const EXACT = /^(requests|(calls|kernel|serving) (syncs|renames|commits|threads))\b/;
/** How many pages SQLite reads and writes depends on which of two writers was first. */
const PAGES = /^kernel (reads|writes)$/;
const SLACK_SHARE = 0.05;
/** Whatever the share of a small number is: as threads wake in another order, a few may be more or less. */
const SLACK_LEAST = { pages: 48, others: 3 };

/**
 * What differs by more than its slack, upwards or downwards: an fsync that is gone is worth a look as much as one too many. Groups that
 * were not counted this time are left out.
 */
export function compareCounts(was: Counts, is: Counts): readonly Difference[] {
  return Object.entries(is).flatMap(([group, counted]) => {
    const pinned = was[group] ?? {};
    const names = new Set([...Object.keys(pinned), ...Object.keys(counted)]);
    return [...names].flatMap((count): Difference[] => {
      const [before, now] = [pinned[count] ?? 0, counted[count] ?? 0];
      const slack = slackOf(`${group} ${count}`, before);
      return Math.abs(now - before) > slack ? [{ group, count, was: before, is: now, slack }] : [];
    });
  });
}

function slackOf(name: string, was: number): number {
  if (EXACT.test(name)) return 0;
  return Math.max(PAGES.test(name) ? SLACK_LEAST.pages : SLACK_LEAST.others, Math.floor(was * SLACK_SHARE));
}

/** @param rewrite The command that writes the table anew. */
export function describeDifferences(
  job: string,
  differences: readonly Difference[],
  rewrite: string,
): string {
  const lines = differences.map(({ group, count, was, is, slack }) => {
    const allowed = slack === 0 ? 'exactly' : `give or take ${formatCount(slack)}`;
    return `  ${group} ${count}: was ${formatCount(was)} (${allowed}), is ${formatCount(is)}`;
  });
  return [
    `"${job}" takes something else than before:`,
    ...lines,
    `If that is meant, write the table anew, look at what changed in it, and commit it: ${rewrite}`,
  ].join('\n');
}

export function readPinned(path: string): PinnedCounts {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/**
 * Jobs that are not among the new ones are gone. What was not counted this time, or is within its slack, stays as it was: so the table
 * shows what really changed, and no number can creep away in small steps.
 */
export function writePinned(path: string, before: PinnedCounts, now: PinnedCounts): void {
  const merged = Object.entries(now).map(([job, counts]) => [job, mergeGroups(before[job] ?? {}, counts)]);
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`);
}

function mergeGroups(before: Counts, now: Counts): Counts {
  const groups = new Map(Object.entries(before).map(([group, counts]) => [group, { ...counts }]));
  for (const group of Object.keys(now)) if (!groups.has(group)) groups.set(group, {});
  for (const { group, count, is } of compareCounts(before, now)) {
    const counts = groups.get(group) ?? {};
    if (is === 0) delete counts[count];
    else counts[count] = is;
  }
  return Object.fromEntries(groups);
}
