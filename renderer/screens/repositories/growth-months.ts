/** The months of a growth plot: without gaps, up to the current one. */
import type { GrowthMonth } from '../../../engine/api/host/repositories.ts';

/** Three years. */
const MONTHS_SHOWN = 36;

/** A month without a commit has the size of the month before it. */
export function fillMonths(known: readonly GrowthMonth[], nowMs: number): readonly GrowthMonth[] {
  const [first] = known;
  if (!first) return [];
  const byMonth = new Map(known.map((totals) => [totals.month, totals]));
  const last = Math.max(monthNumber(monthOf(nowMs)), monthNumber(known.at(-1)!.month));
  const filled: GrowthMonth[] = [];
  let before = first;
  for (let number = monthNumber(first.month); number <= last; number += 1) {
    const month = monthName(number);
    const totals = byMonth.get(month) ?? { ...before, month, commits: 0 };
    before = totals;
    filled.push(totals);
  }
  return filled.slice(-MONTHS_SHOWN);
}

function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'yyyy-mm'.length);
}

function monthNumber(month: string): number {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return year * 12 + number - 1;
}

function monthName(number: number): string {
  return `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`;
}
