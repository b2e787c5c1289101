/** Gives a file of this machine the time and mode of the source's item. */
import { touchLocal } from '../../../files/scan/local-place.ts';
import { fileToken, type TreeItem } from '../../../model/tree-item.ts';
import type { FileTouch } from '../../../remotes/file-calls.ts';
import type { TreeRun } from '../copy-run.ts';
import type { LocalSide, TreeSide } from '../sides.ts';
import type { Touched } from './mover.ts';

export async function touchHere(
  { destination, refusals }: TreeRun<TreeSide, LocalSide>,
  item: TreeItem,
  { path, to }: { readonly path: string; readonly to: FileTouch },
): Promise<Touched> {
  const { isUnchanged, stat } = await touchLocal(destination.root, destination.pathOf(path), {
    ...to,
    refusals,
  });
  return { sourceToken: item.token, destinationToken: fileToken(stat), isUnchanged };
}
