/** The line that says what a destination does not keep. */
import type { NotKeptTotals } from '../../../engine/api/jobs/trees.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';

/** @param where Such as `there`. */
export function formatNotKept(where: string, notKept: NotKeptTotals | undefined): string[] {
  if (!notKept) return [];
  const { emptyFolders = 0, hardLinks = 0, sparseFiles = 0 } = notKept;
  const parts = [
    ...(emptyFolders > 0 ? [formatPlural(emptyFolders, 'empty folder')] : []),
    ...(hardLinks > 0 ? [`that ${formatPlural(hardLinks, 'file')} shared content as hard links`] : []),
    ...(sparseFiles > 0 ? [`the holes of ${formatPlural(sparseFiles, 'sparse file')}`] : []),
  ];
  return [`Not kept ${where}: ${parts.join('; ')}.`];
}
