/** The table of accepted counts, and how a run is compared with it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { formatCount } from '../../engine/api/text/numbers.ts';

/** Counts by group (`requests`, `wire`, `calls`, `kernel`, `serving`) and name; an absent name is 0. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Counts by job name. */
export type PinnedCounts = Readonly<Record<string, Counts>>;

export interface Difference {
  readonly group: string;
  readonly count: string;
  readonly was: number;
  readonly is: number;
  readonly slack: number;
}

/**
 * Counts that remotes charge for, that latency multiplies, or that keep data safe must be equal, neither more
 * nor less.
 */
const EXACT = /^(requests|(calls|kernel|serving) (syncs|renames|commits|threads))\b/;
/** The number of pages that SQLite reads and writes depends on which of two writers came first. */
const PAGES = /^kernel (reads|writes)$/;
/** A busy machine reads an answer in fewer or more pieces, each of which may take a buffer. */
const BUFFERS = /^\w+ bufferBytes$/;
const SLACK_SHARE = { buffers: 0.2, others: 0.05 };
/** The least slack, whatever the share: as threads wake in another order, a small count may vary by a few. */
const SLACK_LEAST = { pages: 48, others: 3 };

/**
 * Returns the counts that differ by more than their slack, upwards or downwards: a missing fsync matters as
 * much as an extra one. Skips groups that were not counted this time.
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
  const least = PAGES.test(name) ? SLACK_LEAST.pages : SLACK_LEAST.others;
  const share = BUFFERS.test(name) ? SLACK_SHARE.buffers : SLACK_SHARE.others;
  return Math.max(least, Math.floor(was * share));
}

/** @param rewrite The command that writes a new table. */
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
    `"${job}" costs more or less than before:`,
    ...lines,
    `If that is intended, write a new table, review its changes, and commit it: ${rewrite}`,
  ].join('\n');
}

export function readPinned(path: string): PinnedCounts {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/**
 * Drops jobs that are gone. A count that was not taken this time or is within its slack stays as it was. So
 * the table shows only real changes, and no number can creep in small steps.
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
