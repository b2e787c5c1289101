import type { ChangeTotals } from '../../api/jobs/jobs.ts';

export const NO_CHANGES: ChangeTotals = { added: 0, modified: 0, deleted: 0, renamed: 0, mode: 0, bytes: 0 };

export function isNothing(changes: ChangeTotals): boolean {
  return changes.added + changes.modified + changes.deleted + changes.renamed + changes.mode === 0;
}
