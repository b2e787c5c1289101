import { describe, expect, it } from 'vitest';
import type { TreeItem } from '../../model/tree-item.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ListPage, ListRequest, ObjectStore } from '../../remotes/object-store.ts';
import { listTreeItems, readTreePage, UnorderedListing } from './object-pages.ts';

const { signal } = new AbortController();
const limit = { run: <T>(task: () => Promise<T>) => task() };

async function storeOf(keys: readonly string[]): Promise<ObjectStore> {
  const store = createMemoryStore();
  for (const key of keys) await store.put(key, new Uint8Array(1));
  return store;
}

/** The store, with pages changed by the function, and its requests. */
function withPages(store: ObjectStore, change: (page: ListPage, request: ListRequest) => ListPage) {
  const requests: ListRequest[] = [];
  const changed: ObjectStore = {
    ...store,
    list: async (request, call) => {
      requests.push(request);
      return change(await store.list(request, call), request);
    },
  };
  return { store: changed, requests };
}

async function pagesOf(pages: AsyncIterable<readonly TreeItem[]>): Promise<readonly (readonly TreeItem[])[]> {
  const collected: (readonly TreeItem[])[] = [];
  for await (const page of pages) collected.push(page);
  return collected;
}

const pathsOf = async (pages: AsyncIterable<readonly TreeItem[]>) =>
  (await pagesOf(pages)).flat().map(({ path }) => path);

describe('a listing as a tree', () => {
  it('continues only by continuation tokens and returns each object as listed', async () => {
    const { requests, store } = withPages(await storeOf(['a', 'b', 'c', 'd', 'e']), (page) => page);
    const pages = await pagesOf(listTreeItems({ store, limit, signal, startAfter: 'a', pageSize: 2 }));
    expect(pages.map((page) => page.map(({ path }) => path))).toEqual([
      ['b', 'c'],
      ['d', 'e'],
    ]);
    expect(pages[0]![0]).toEqual({
      path: 'b',
      kind: 'object',
      sizeBytes: 1,
      token: 'm2',
      modifiedMs: expect.any(Number),
    });
    expect(requests.map(({ startAfter }) => startAfter)).toEqual(['a', undefined]);
  });

  it('requests only the next page while the current one is used', async () => {
    const { requests, store } = withPages(await storeOf(['a', 'b', 'c', 'd']), (page) => page);
    const listing = listTreeItems({ store, limit, signal, pageSize: 1 });
    await listing.next();
    expect(requests).toHaveLength(2);
    await listing.return(undefined);
    expect(requests).toHaveLength(2);
  });

  it('reports a failure in place of the page, and no rejection stays unhandled', async () => {
    const failing = withPages(await storeOf(['a', 'b']), (page, { continuation }) => {
      if (continuation !== undefined) throw new Error('no second page');
      return page;
    });
    const listing = listTreeItems({ store: failing.store, limit, signal, pageSize: 1 });
    expect((await listing.next()).value).toHaveLength(1);
    await expect(listing.next()).rejects.toThrow('no second page');
    const left = listTreeItems({ store: failing.store, limit, signal, pageSize: 1 });
    await left.next();
    await left.return(undefined);
  });

  it('skips empty pages that are not the last', async () => {
    const empty = withPages(await storeOf(['a', 'b', 'c']), (page, { continuation }) =>
      continuation === undefined ? { ...page, objects: [] } : page,
    );
    const options = { store: empty.store, limit, signal, pageSize: 1 };
    expect(await pathsOf(listTreeItems(options))).toEqual(['b', 'c']);
    const { isLast, items } = await readTreePage(options);
    expect(items.map(({ path }) => path)).toEqual(['b']);
    expect(isLast).toBe(false);
  });

  it('refuses a listing that repeats its continuation, and one that ignores its start', async () => {
    const store = await storeOf(['a', 'b']);
    const stuck: ObjectStore = {
      ...store,
      list: async () => ({ objects: [], folders: [], continuation: 'same' }),
    };
    const options = { store: stuck, limit, signal };
    await expect(readTreePage(options)).rejects.toMatchObject({ code: 'remoteFailed' });
    await expect(pathsOf(listTreeItems(options))).rejects.toMatchObject({ code: 'remoteFailed' });
    const deaf: ObjectStore = { ...store, list: () => store.list({ prefix: '' }) };
    await expect(readTreePage({ store: deaf, limit, signal, startAfter: 'a' })).rejects.toThrow(
      UnorderedListing,
    );
  });

  it('refuses an unordered listing, unless the caller accepts it', async () => {
    const { store } = withPages(await storeOf(['a', 'b', 'c']), (page) => ({
      ...page,
      objects: page.objects.toReversed(),
    }));
    await expect(pathsOf(listTreeItems({ store, limit, signal }))).rejects.toThrow(UnorderedListing);
    expect(await pathsOf(listTreeItems({ store, limit, signal, isUnordered: true }))).toEqual([
      'c',
      'b',
      'a',
    ]);
  });
});
