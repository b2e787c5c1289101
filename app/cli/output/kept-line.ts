import type { KeptTotals, MadeCopy } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { quotePath } from './terminal-text.ts';

/** A line that names the run of overwritten local files. Empty if there are none. */
export function formatKept(kept: KeptTotals | undefined): string[] {
  if (!kept) return [];
  const { bytes, files, id } = kept;
  const what = `${formatPlural(files, 'overwritten file')} (${formatBytes(bytes)})`;
  return [`Kept ${what} for 30 days: "dray kept restore ${id}" brings ${files === 1 ? 'it' : 'them'} back.`];
}

/** A line for each local file that `--both` kept under a second name. */
export function formatCopies(copies: readonly MadeCopy[] = []): string[] {
  return copies.map(({ copy, path }) => `Kept both of ${quotePath(path)}: yours is ${quotePath(copy)}.`);
}
