/** A listing as a tree: items in order, a page fetched ahead while the one before is used. */
import { DrayError } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import type { ListedObject, ListPage, ObjectStore } from '../../remotes/object-store.ts';

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
  /** Told of what the store could not read (`ListPage.problems`). Absent: nobody needs to know that the listing is not whole. */
  readonly onProblem?: (message: string) => void;
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
      for (const problem of page.problems ?? []) options.onProblem?.(problem);
      if (page.objects.length === 0) continue;
      if (!isUnordered) checkOrder(options.store, last, page.objects);
      last = page.objects.at(-1)!.key;
      yield page.objects.map(listedItem);
    }
  } finally {
    await next?.catch(() => {});
  }
}

export interface TreePage {
  /** Empty only on the last page. */
  readonly items: readonly TreeItem[];
  readonly isLast: boolean;
}

/** The first page after a starting point. More than one request only where a store gives an empty page and promises more. */
export async function readTreePage(options: Omit<PagesOptions, 'isUnordered'>): Promise<TreePage> {
  const { startAfter = '' } = options;
  let continuation: string | undefined;
  for (;;) {
    const page = await fetchPage(options, startAfter, continuation);
    checkOrder(options.store, startAfter, page.objects);
    const isLast = page.continuation === undefined;
    if (isLast || page.objects.length > 0) return { items: page.objects.map(listedItem), isLast };
    continuation = page.continuation;
  }
}

async function fetchPage(
  { limit, onPage, pageSize, signal, store }: PagesOptions,
  startAfter: string,
  continuation: string | undefined,
): Promise<ListPage> {
  onPage?.();
  const request = {
    prefix: '',
    ...(startAfter === '' || continuation !== undefined ? {} : { startAfter }),
    ...(continuation === undefined ? {} : { continuation }),
    ...(pageSize === undefined ? {} : { limit: pageSize }),
  };
  const page = await limit.run(() => store.list(request, { signal }), { bytes: 0, signal });
  if (continuation === undefined || page.continuation !== continuation) return page;
  throw new DrayError(
    'remoteFailed',
    `The listing of ${store.address} does not move on: it promises more and repeats itself.`,
    { data: { continuation } },
  );
}

function checkOrder(store: ObjectStore, after: string, objects: readonly ListedObject[]): void {
  let last = after;
  for (const { key } of objects) {
    if (last !== '' && comparePaths(key, last) <= 0) throw new UnorderedListing(store.address);
    last = key;
  }
}

export function listedItem({ etag, isFile, key, modifiedMs, sizeBytes }: ListedObject): TreeItem {
  return {
    path: key,
    kind: 'object',
    sizeBytes,
    token: etag,
    modifiedMs,
    ...(isFile ? { isFile } : {}),
  };
}
