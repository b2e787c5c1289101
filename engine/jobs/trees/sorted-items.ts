/** Items of a store that lists in no order, by way of a sort on disk. */
import type { SortedSpill } from '../../index/tree-spill.ts';
import type { TreeItem } from '../../model/tree-item.ts';

export async function* sortedItems(
  items: AsyncIterable<readonly TreeItem[]>,
  sorter: SortedSpill,
): AsyncGenerator<readonly TreeItem[]> {
  for await (const batch of items) sorter.add(batch);
  yield* sorter.pages();
}
