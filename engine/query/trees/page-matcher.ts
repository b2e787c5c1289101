/** Matches source items with one page of the destination, in one pass. */
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import type { MatchedBatch, MatchedPair } from './merge-trees.ts';

export interface PageMatcher {
  /** The next items, in order, whose counterparts can only be in this page. */
  match(items: readonly TreeItem[]): MatchedBatch;
  /** The rest of the page. */
  rest(): readonly TreeItem[];
}

/** Without `wantExtras`, items that the source lacks are skipped and the batches' `extras` are empty. */
export function createPageMatcher(
  page: readonly TreeItem[],
  { wantExtras }: { readonly wantExtras: boolean },
): PageMatcher {
  let at = 0;
  return {
    match(items) {
      const pairs: MatchedPair[] = [];
      const extras: TreeItem[] = [];
      for (const source of items) {
        let destination: TreeItem | undefined;
        for (let found = page[at]; found !== undefined; found = page[at]) {
          const order = comparePaths(found.path, source.path);
          if (order > 0) break;
          at += 1;
          if (order === 0) {
            destination = found;
            break;
          }
          if (wantExtras) extras.push(found);
        }
        pairs.push({ source, destination });
      }
      return { pairs, extras };
    },
    rest() {
      const rest = wantExtras ? page.slice(at) : [];
      at = page.length;
      return rest;
    },
  };
}
