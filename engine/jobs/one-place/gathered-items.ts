/** The items of a listing until all of it is known: the first ones in memory, the rest in a file. */
import { makeFolders } from '../../base/make-folders.ts';
import { createSpills, type SpillList } from '../../index/tree-spill.ts';
import type { TreeItem } from '../../model/tree-item.ts';

/** Some 50,000 items. */
const PAGES_IN_MEMORY_MAX = 50;

export interface GatheredItems extends Disposable {
  add(page: readonly TreeItem[]): void;
  /** Pages of at most 1,000, in the order of their addition. */
  pages(): Generator<readonly TreeItem[]>;
}

/** @param folder Of the file, which is made when it is needed. */
export function gatherItems(folder: string): GatheredItems {
  const first: (readonly TreeItem[])[] = [];
  const spills = createSpills(folder);
  let rest: SpillList | undefined;
  return {
    add(page) {
      if (first.length < PAGES_IN_MEMORY_MAX) {
        first.push(page);
        return;
      }
      if (!rest) {
        makeFolders(folder);
        rest = spills.list();
      }
      // Without `mtimeNs`, which a listing does not have, and which JSON could not hold.
      rest.push(page.map(({ mtimeNs: _, ...item }) => JSON.stringify(item)));
    },
    *pages() {
      yield* first;
      for (const page of rest?.pages() ?? []) yield page.map((text) => JSON.parse(text) as TreeItem);
    },
    [Symbol.dispose]: () => spills[Symbol.dispose](),
  };
}
