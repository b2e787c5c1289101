/** With `--links`: symbolic links of a local folder as files whose content is their target. */
import { join } from 'node:path';
import { openFileSource } from '../../../files/read/file-source.ts';
import { FileFailure, readError } from '../../../files/read/open-file.ts';
import { LINK_SUFFIX, readLink } from '../../../files/scan/local-place.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { ObjectSource } from '../../../transfer/upload/object-source.ts';
import type { LocalSide, TreeSide } from '../sides.ts';

/** Whether the item is a link: its object's name has a suffix that its own path lacks. */
export function isLinkItem(side: TreeSide, { path }: Pick<TreeItem, 'path'>): boolean {
  return side.kind === 'local' && path.endsWith(LINK_SUFFIX) && side.pathOf(path) !== path;
}

/** The file's content, or a link's target. @throws DrayError `io`, as readers of files do */
export async function openItemSource(side: LocalSide, item: TreeItem): Promise<ObjectSource> {
  const path = join(side.root, side.pathOf(item.path));
  if (!isLinkItem(side, item)) return openFileSource(path);
  const target = readLink(path);
  return {
    name: path,
    sizeBytes: target.length,
    token: item.token,
    async read(start, into) {
      into.set(target.subarray(start, start + into.byteLength));
      return into;
    },
    async checkUnchanged() {
      if (Buffer.compare(readLink(path), target) !== 0)
        throw readError(path, new FileFailure('changedWhileRead'));
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
