import type { KeptTotals } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';

/** A line that names the run of overwritten local files. Empty if there are none. */
export function formatKept(kept: KeptTotals | undefined): string[] {
  if (!kept) return [];
  const { bytes, files, id } = kept;
  const what = `${formatPlural(files, 'overwritten file')} (${formatBytes(bytes)})`;
  return [`Kept ${what} for 30 days: "dray kept restore ${id}" brings ${files === 1 ? 'it' : 'them'} back.`];
}
