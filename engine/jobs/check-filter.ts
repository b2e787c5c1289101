/** Which files a check looks at. */
import { basename, dirname, join, relative, sep } from 'node:path';
import type { CheckTreesRequest } from '../api/trees.ts';
import { createTreeFilter, type TreeFilter } from '../model/tree-filter.ts';
import { reportFiles } from './check-report.ts';
import { followLink } from './local-items.ts';
import type { TreePair } from './tree-pair.ts';

/** As asked for, without the report of this very check, which may lie in one of the folders. */
export function checkFilter(
  { filter, reportPath }: CheckTreesRequest,
  { destination, source }: TreePair,
): TreeFilter {
  const asked = createTreeFilter(filter ?? {});
  if (reportPath === undefined) return asked;
  const own = new Set(
    [source, destination].flatMap((side) => (side.kind === 'local' ? pathsIn(side.root, reportPath) : [])),
  );
  return { ...asked, includes: (item) => !own.has(item.path) && asked.includes(item) };
}

function pathsIn(root: string, reportPath: string): readonly string[] {
  const folder = followLink(dirname(reportPath));
  return reportFiles(reportPath).map((path) =>
    relative(followLink(root), join(folder, basename(path))).replaceAll(sep, '/'),
  );
}
