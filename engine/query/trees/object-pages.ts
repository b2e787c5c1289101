/** Reads a listing as a tree: items in order, with the next page fetched while the current one is used. */
import { DrayError } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import type { HeldPart } from '../../model/held-part.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import type { ListedObject, ListPage, ObjectStore } from '../../remotes/object-store.ts';

/** Bounds requests in flight; the transfer layer's adaptive limit is one. */
export interface RequestLimit {
  run<T>(
    task: () => Promise<T>,
    options: { readonly bytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
}

/**
 * The store lists without order, as S3's directory buckets do. Callers that need order start again with a
 * sort on disk.
 */
export class UnorderedListing extends Error {
  constructor(address: string) {
    super(`${address} lists its objects without order.`);
    this.name = 'UnorderedListing';
  }
}

export interface PagesOptions {
  readonly store: ObjectStore;
  /** The listing starts after this key. */
  readonly startAfter?: string;
  readonly limit: RequestLimit;
  readonly signal: AbortSignal;
  /** Accept items in any order. */
  readonly isUnordered?: boolean;
  /** For tests; default 1,000. */
  readonly pageSize?: number;
  readonly onPage?: () => void;
  /**
   * Gets the objects that the store could not read (`ListPage.problems`). Absent: the listing may be
   * incomplete.
   */
  readonly onProblem?: (message: string) => void;
  /** Gets `ListPage.parts`. */
  readonly onPart?: ((part: HeldPart) => void) | undefined;
}

/** @throws UnorderedListing unless `isUnordered`, and the store's errors. */
export async function* listTreeItems(options: PagesOptions): AsyncGenerator<readonly TreeItem[]> {
  const { isUnordered = false, startAfter = '' } = options;
  let last = startAfter;
  let next: Promise<ListPage> | undefined = fetchPage(options, startAfter, undefined);
  try {
    while (next) {
      const page: ListPage = await next;
      next = page.continuation === undefined ? undefined : fetchPage(options, startAfter, page.continuation);
      // Reported when it is awaited; until then it must not count as unhandled.
      next?.catch(() => {});
      for (const problem of page.problems ?? []) options.onProblem?.(problem);
      for (const part of page.parts ?? []) options.onPart?.(part);
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

/**
 * The first page after a starting point. More than one request only when a store returns an empty page that
 * is not the last.
 */
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
    `The listing of ${store.address} does not advance: it reports more objects and repeats the same ones.`,
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
