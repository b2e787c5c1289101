/**
 * The entries of one folder. The engine lists and keeps them. The pane holds the visible pages, and reads
 * them again while the list grows.
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
  /** The number of entries that are listed until now, ignoring the filter. */
  readonly listed: number;
  readonly state: ListingState;
  /** True if the folder is a Dray repository. */
  readonly isRepository: boolean;
  readonly pages: RowPages<EntryAnswer> | undefined;
  /** The error of the listing. `list` may have the entries before it. */
  readonly error: Error | undefined;
  readonly stop: () => void;
  /** Resumes the listing after a stop or an error. */
  readonly resume: () => void;
  readonly reload: () => void;
}

/** The least time between two reads of a growing list. */
const GROWN_MS = 300;

interface Shown extends ListingNow {
  readonly place: string;
}

export interface EntriesOptions {
  /** Shows only entries of the folder with this text in their names. */
  readonly filter?: string;
  /** Lists all below a version with this text in their names, instead of one level. */
  readonly search?: string;
}

export function useEntries(
  location: Location,
  { column, isDescending }: SortedBy,
  { filter = '', search = '' }: EntriesOptions,
): Entries {
  const host = useHost();
  const refresh = useRefresh();
  const placed = placeOf(location);
  /** What is listed. No place has a line break. */
  const place = search === '' ? placed : `${placed}\n${search}`;
  const [last, setLast] = useState<Shown>();
  const listing = useRef<ReturnType<typeof followListing>>(undefined);
  // A changed answer lists the folder again. A refresh of `browse.open` by any screen has this effect.
  const round = useQuery({
    queryKey: ['browse.open', { place }],
    queryFn: () => performance.now(),
    gcTime: 0,
  });
  useEffect(() => {
    if (round.data === undefined) return;
    const listed = { place: placed, ...(search !== '' && { search }) };
    const following = followListing(host, listed, (next) =>
      setLast((before) => merge(before, { place, ...next })),
    );
    listing.current = following;
    return following.leave;
  }, [host, place, placed, search, round.data]);
  // Its list is closed then, also if the person comes back before another folder is listed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the place changes
  useEffect(() => () => setLast(undefined), [place]);
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
    // A version may hold a file of any name.
    isRepository: shown.isRepository && location.root.kind !== 'version',
    pages,
    error: shown.error,
    stop: () => listing.current?.stop(),
    resume: () => {
      if (list === undefined || state === 'done') void refresh('browse.open');
      else listing.current?.resume();
    },
    reload: () => void round.refetch(),
  };
}

/** Keeps the rows of the previous listing until new ones arrive. */
function merge(before: Shown | undefined, next: Shown): Shown {
  if (next.list !== undefined || before?.place !== next.place || before.list === undefined) return next;
  return next.error ? { ...before, error: next.error } : before;
}

/** Closes a list when it is no longer shown. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count and the state trigger another read
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
