/**
 * The entries of one folder, page after page as the list is scrolled, in the order that the columns ask for.
 */
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { EntryRow } from '../../../engine/api/host/browse.ts';
import type { AnswerOf } from '../../../engine/api/host.ts';
import { useHost } from '../../host/use-host.tsx';
import { type Location, placeOf } from './places.ts';

export interface SortedBy {
  readonly column: 'name' | 'size' | 'time';
  readonly isDescending: boolean;
}

export interface Entries {
  readonly rows: readonly EntryRow[];
  readonly isLoading: boolean;
  readonly isLoadingMore: boolean;
  readonly isLoadingAll: boolean;
  readonly isMore: boolean;
  /** With rows: they are those before the failure. */
  readonly error: Error | undefined;
  /** True if a further page failed; false if a reload failed. */
  readonly isMoreFailed: boolean;
  readonly loadMore: () => void;
  /** Loads page after page until all entries are here or another folder is shown. */
  readonly loadAll: () => void;
  readonly reload: () => void;
  /** Retries what failed. */
  readonly retry: () => void;
}

type Page = AnswerOf<'browse.list'>;

function entriesKey(place: string): readonly [string, string] {
  return ['browse.list', place];
}

export function useEntries(location: Location, sortedBy: SortedBy): Entries {
  const { ask } = useHost();
  const place = placeOf(location);
  const query = useInfiniteQuery<
    Page,
    Error,
    InfiniteData<Page>,
    readonly [string, string],
    string | undefined
  >({
    queryKey: entriesKey(place),
    queryFn: ({ pageParam, signal }) =>
      ask('browse.list', { place, ...(pageParam === undefined ? {} : { after: pageParam }) }, { signal }),
    initialPageParam: undefined,
    getNextPageParam: (page) => page.next,
  });
  const rows = useMemo(
    () => sortEntries(query.data?.pages.flatMap((page) => page.entries) ?? [], sortedBy),
    [query.data, sortedBy],
  );
  // The folder whose entries are all wanted.
  const [wanted, setWanted] = useState<string>();
  const { fetchNextPage, hasNextPage, isFetching, isFetchingNextPage } = query;
  const isLoadingAll = wanted === place && hasNextPage && !query.isError;
  useEffect(() => {
    if (isLoadingAll && !isFetching) void fetchNextPage();
  }, [isLoadingAll, isFetching, fetchNextPage]);
  const tryAgain = () => {
    if (query.isFetchNextPageError) void fetchNextPage();
    else void query.refetch();
  };
  return {
    rows,
    isLoading: query.isPending,
    isLoadingMore: isFetchingNextPage,
    isLoadingAll,
    isMore: hasNextPage,
    error: query.error ?? undefined,
    isMoreFailed: query.isFetchNextPageError,
    loadMore: () => {
      if (hasNextPage && !isFetching) void fetchNextPage();
    },
    loadAll: () => {
      setWanted(place);
      // After a failure the effect waits for a page to arrive. This retries it.
      if (query.isError && !isFetching) tryAgain();
    },
    reload: () => void query.refetch(),
    retry: tryAgain,
  };
}

/** Folders come first, whatever the column. */
function sortEntries(entries: readonly EntryRow[], { column, isDescending }: SortedBy): EntryRow[] {
  const sign = isDescending ? -1 : 1;
  const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
  return [...entries].sort((a, b) => {
    const folders = Number(b.kind === 'folder') - Number(a.kind === 'folder');
    if (folders !== 0) return folders;
    const byColumn =
      column === 'size'
        ? a.sizeBytes - b.sizeBytes
        : column === 'time'
          ? (a.mtime ?? '').localeCompare(b.mtime ?? '')
          : byName.compare(a.path, b.path);
    return byColumn !== 0 ? sign * byColumn : byName.compare(a.path, b.path);
  });
}
