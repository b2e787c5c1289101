/** The source of a part: the objects of a bucket, or the files of a worker's folder (`folder-source.ts`). */
import type { DrayError } from '../../../api/error.ts';
import type { TreeFilter } from '../../../model/tree-filter.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { listTreeItems } from '../../../query/trees/object-pages.ts';
import { catObject, downloadWhole } from '../../../transfer/download/download-object.ts';
import { vanished } from '../../../transfer/upload/remote-source.ts';
import { createTreeMemory } from '../../trees/move/movers.ts';
import type { RemoteSide } from '../../trees/sides.ts';
import { isSelectedItem } from '../../trees/source-items.ts';

export interface PartSource {
  /** In order, and through the filter. @param onProblem Gets each item that cannot be read. */
  items(onProblem: (path: string, error: DrayError) => void): AsyncIterable<readonly TreeItem[]>;
  /** The item as it is now, with all that a dataset stores of it; undefined when it is gone. */
  look(item: TreeItem): TreeItem | undefined;
  /** The whole content of a small item. */
  read(item: TreeItem, signal: AbortSignal): Promise<Uint8Array>;
  /** Passes content of any size to `write`, in order. The content is valid only once this resolves. */
  cat(item: TreeItem, write: (bytes: Uint8Array) => Promise<void>, signal: AbortSignal): Promise<void>;
}

export interface PartSourceOptions {
  readonly filter: TreeFilter;
  readonly signal: AbortSignal;
}

export function createBucketSource(
  { limit, store }: Pick<RemoteSide, 'limit' | 'store'>,
  { filter, signal: listing }: PartSourceOptions,
): PartSource {
  const memory = createTreeMemory({});
  return {
    async *items() {
      for await (const page of listTreeItems({ store, limit, signal: listing }))
        yield page.filter((item) => isSelectedItem(filter, item));
    },
    // Its reads are bound to the etag of the listing.
    look: (item) => item,
    async read({ path: key, sizeBytes, token: etag }, signal) {
      const into = Buffer.allocUnsafeSlow(sizeBytes);
      return (await downloadWhole({ store, key, etag, sizeBytes, into, limit, signal })).bytes;
    },
    async cat({ path: key, token }, write, signal) {
      const info = await limit.run(() => store.head(key, { checksums: true, signal }), { bytes: 0, signal });
      if (!info) throw vanished(key);
      const pinned = token === '' ? info : { ...info, etag: token };
      await catObject({ store, key, info: pinned, limit, memory, signal, write });
    },
  };
}
