/**
 * The entries of one folder. The engine lists them and keeps them; the pane holds the pages that are seen,
 * and reads them again while the list grows.
 */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { EntryView } from '../../../../engine/api/host/browse.ts';
import type { AnswerOf } from '../../../../engine/api/host.ts';
import { useHost, useRefresh } from '../../../host/use-host.tsx';
import type { FetchRows, RowPages } from '../../rows/row-pages.ts';
import { useShownPages } from '../../rows/use-shown-pages.ts';
import { type Location, placeOf } from '../places.ts';
import { followListing, type ListingNow, type ListingState } from './follow-listing.ts';

export interface SortedBy {
  readonly column: 'name' | 'size' | 'time';
  readonly isDescending: boolean;
}

export type EntryAnswer = AnswerOf<'browse.rows'>;

export interface Entries {
  readonly view: EntryView;
  /** The engine's list, once it has rows. */
  readonly list: string | undefined;
  /** Entries that are listed so far, whatever the filter. */
  readonly listed: number;
  readonly state: ListingState;
  /** The folder is a repository of Dray. */
  readonly isRepository: boolean;
  readonly pages: RowPages<EntryAnswer> | undefined;
  /** With a list: it has what was read before the failure. */
  readonly error: Error | undefined;
  readonly stop: () => void;
  /** Goes on after a stop or a failure. */
  readonly goOn: () => void;
  readonly reload: () => void;
}

/** The least pause between two looks at a list that grows. */
const GROWN_MS = 300;

interface Shown extends ListingNow {
  readonly place: string;
}

export function useEntries(location: Location, { column, isDescending }: SortedBy, filter: string): Entries {
  const host = useHost();
  const refresh = useRefresh();
  const place = placeOf(location);
  const [last, setLast] = useState<Shown>();
  const listing = useRef<ReturnType<typeof followListing>>(undefined);
  // Another answer is another reading of the folder: so whoever changes folders need not know who shows them.
  const round = useQuery({
    queryKey: ['browse.open', { place }],
    queryFn: () => performance.now(),
    gcTime: 0,
  });
  useEffect(() => {
    if (round.data === undefined) return;
    const following = followListing(host, place, (next) =>
      setLast((before) => merge(before, { place, ...next })),
    );
    listing.current = following;
    return following.leave;
  }, [host, place, round.data]);
  const shown: Shown =
    last?.place === place
      ? last
      : { place, list: undefined, listed: 0, state: 'opening', isRepository: false };
  const { list, listed, state } = shown;
  useClosed(list);
  const view = useMemo(
    (): EntryView => ({ filter, sort: column, isDescending }),
    [filter, column, isDescending],
  );
  const fetchRows = useMemo((): FetchRows<EntryAnswer> | undefined => {
    if (list === undefined) return undefined;
    return (offset, limit, signal) => host.ask('browse.rows', { list, view, offset, limit }, { signal });
  }, [host, list, view]);
  const pages = useShownPages(place, fetchRows);
  useGrowth(pages, listed, state);
  return {
    view,
    list,
    listed,
    state,
    isRepository: shown.isRepository,
    pages,
    error: shown.error,
    stop: () => listing.current?.stop(),
    goOn: () => {
      if (list === undefined || state === 'done') void refresh('browse.open');
      else listing.current?.goOn();
    },
    reload: () => void round.refetch(),
  };
}

/** Rows of an earlier reading stay until there are new ones. */
function merge(before: Shown | undefined, next: Shown): Shown {
  if (next.list !== undefined || before?.place !== next.place || before.list === undefined) return next;
  return next.error ? { ...before, error: next.error } : before;
}

/** Closes a list once another one is shown, or none. */
function useClosed(list: string | undefined): void {
  const host = useHost();
  useEffect(() => {
    if (list === undefined) return;
    return () => {
      host.ask('browse.close', { list }).catch(() => {});
    };
  }, [host, list]);
}

function useGrowth(pages: RowPages<EntryAnswer> | undefined, listed: number, state: ListingState): void {
  const lastMs = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is listed and the state trigger another look
  useEffect(() => {
    if (!pages) return;
    const waitMs = state === 'listing' ? Math.max(0, lastMs.current + GROWN_MS - performance.now()) : 0;
    const timer = setTimeout(() => {
      lastMs.current = performance.now();
      pages.reload();
    }, waitMs);
    return () => clearTimeout(timer);
  }, [pages, listed, state]);
}
