import type { ChangeTotals } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatCount } from '../../../engine/api/text/numbers.ts';

/** Such as "2 added, 1 deleted (3 KiB)". Empty if nothing changes. */
export function changeWords(changes: ChangeTotals): string {
  const parts = [
    [changes.added, 'added'],
    [changes.modified, 'changed'],
    [changes.renamed, 'renamed'],
    [changes.deleted, 'deleted'],
    [changes.mode, 'with another mode'],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);
  if (words.length === 0) return '';
  return `${words.join(', ')}${changes.bytes > 0 ? ` (${formatBytes(changes.bytes)})` : ''}`;
}
