/** The filter of a check. */
import { basename, dirname, join, relative, sep } from 'node:path';
import type { CheckTreesRequest } from '../../../api/jobs/trees.ts';
import { createTreeFilter, type TreeFilter } from '../../../model/tree-filter.ts';
import { followLink } from '../local-items.ts';
import type { TreePair } from '../open-pair.ts';

/** The requested filter, without this check's own report, which may lie in one of the folders. */
export function checkFilter(
  { filter, reportPath }: CheckTreesRequest,
  { destination, source }: TreePair,
): TreeFilter {
  const asked = createTreeFilter(filter ?? {});
  if (reportPath === undefined) return asked;
  const own = new Set(
    [source, destination].flatMap((side) => (side.kind === 'local' ? [pathIn(side.root, reportPath)] : [])),
  );
  return { ...asked, includes: (item) => !own.has(item.path) && asked.includes(item) };
}

function pathIn(root: string, reportPath: string): string {
  const folder = followLink(dirname(reportPath));
  return relative(followLink(root), join(folder, basename(reportPath))).replaceAll(sep, '/');
}
