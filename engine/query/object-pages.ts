/** A listing as a tree: items in order, a page fetched ahead while the one before is used. */
import { comparePaths } from '../model/entry.ts';
import type { TreeItem } from '../model/tree-item.ts';
import type { ListedObject, ListPage, ObjectStore } from '../remotes/object-store.ts';

/** What bounds requests in flight; the transfer layer's adaptive limit is one. */
export interface RequestLimit {
  run<T>(
    task: () => Promise<T>,
    options: { readonly bytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
}

/** The store lists in no order, as S3's directory buckets do. Whoever needs order starts again, by way of a sort on disk. */
export class UnorderedListing extends Error {
  constructor(address: string) {
    super(`${address} lists its objects in no order.`);
    this.name = 'UnorderedListing';
  }
}

export interface PagesOptions {
  readonly store: ObjectStore;
  /** Excluded. */
  readonly startAfter?: string;
  readonly limit: RequestLimit;
  readonly signal: AbortSignal;
  /** Take the items as they come. */
  readonly isUnordered?: boolean;
  /** For tests; default 1,000. */
  readonly pageSize?: number;
  readonly onPage?: () => void;
}

/** @throws UnorderedListing unless `isUnordered`, and what the store throws. */
export async function* listTreeItems(options: PagesOptions): AsyncGenerator<readonly TreeItem[]> {
  const { isUnordered = false, startAfter = '' } = options;
  let last = startAfter;
  let next: Promise<ListPage> | undefined = fetchPage(options, startAfter, undefined);
  try {
    while (next) {
      const page: ListPage = await next;
      next = page.continuation === undefined ? undefined : fetchPage(options, startAfter, page.continuation);
      // Told of when it is awaited; until then nobody else looks at it.
      next?.catch(() => {});
      if (page.objects.length === 0) continue;
      if (!isUnordered) checkOrder(options.store, last, page.objects);
      last = page.objects.at(-1)!.key;
      yield page.objects.map(toTreeItem);
    }
  } finally {
    await next?.catch(() => {});
  }
}

/** One page from a starting point. */
export async function readTreePage(
  options: Omit<PagesOptions, 'isUnordered'>,
): Promise<{ readonly items: readonly TreeItem[]; readonly isLast: boolean }> {
  const { startAfter = '' } = options;
  const page = await fetchPage(options, startAfter, undefined);
  checkOrder(options.store, startAfter, page.objects);
  return { items: page.objects.map(toTreeItem), isLast: page.continuation === undefined };
}

function fetchPage(
  { limit, onPage, pageSize, signal, store }: PagesOptions,
  startAfter: string,
  continuation: string | undefined,
): Promise<ListPage> {
  onPage?.();
  const request = {
    prefix: '',
    ...(startAfter === '' ? {} : { startAfter }),
    ...(continuation === undefined ? {} : { continuation }),
    ...(pageSize === undefined ? {} : { limit: pageSize }),
  };
  return limit.run(() => store.list(request, { signal }), { bytes: 0, signal });
}

function checkOrder(store: ObjectStore, after: string, objects: readonly ListedObject[]): void {
  let last = after;
  for (const { key } of objects) {
    if (last !== '' && comparePaths(key, last) <= 0) throw new UnorderedListing(store.address);
    last = key;
  }
}

function toTreeItem({ etag, key, modifiedMs, sizeBytes, storageClass }: ListedObject): TreeItem {
  return {
    path: key,
    kind: 'object',
    sizeBytes,
    token: etag,
    modifiedMs,
    ...(storageClass === undefined ? {} : { storageClass }),
  };
}
