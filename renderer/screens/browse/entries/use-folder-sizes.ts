/** Sizes of folders, counted on request. */
import { useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { AnswerOf } from '../../../../engine/api/host.ts';
import { useHost } from '../../../host/use-host.tsx';
import { showToast } from '../../../shell/toasts/toasts.tsx';
import { type Location, placeOf } from '../places.ts';
import type { ChosenEntries } from './choice.ts';
import type { Entries } from './use-entries.ts';

export type FolderSize = AnswerOf<'browse.size'>;

/** By place. Omits places that could not be counted. */
export type FolderSizes = ReadonlyMap<string, FolderSize | 'asked'>;

/** The most folders that one press counts. Each takes a listing of everything below it. */
const MEASURED_MAX = 100;

export interface FolderSizeCount {
  readonly known: FolderSizes;
  /** Counts the chosen folders, or the first ones if none is chosen. */
  readonly measure: (location: Location, entries: Entries, chosen: ChosenEntries) => Promise<void>;
  readonly forget: () => void;
}

export function useFolderSizes(): FolderSizeCount {
  const host = useHost();
  const [places, setPlaces] = useState<ReadonlySet<string>>(new Set());
  return {
    known: useSizesOf(places),
    measure: async (location, { list, view }, chosen) => {
      const wanted = chosen.all ? [] : chosen.rows.filter(({ kind }) => kind === 'folder');
      // Folders come first in every view.
      const range = { offset: 0, limit: MEASURED_MAX + 1 };
      const first = wanted.length === 0 && list !== undefined;
      const { rows } = first ? await host.ask('browse.rows', { list, view, ...range }) : { rows: wanted };
      const all = rows.filter(({ kind }) => kind === 'folder');
      if (all.length > MEASURED_MAX)
        showToast({
          tone: 'info',
          title: `Counting the first ${MEASURED_MAX} folders`,
          text: 'Choose other folders to count those.',
        });
      const counted = all.slice(0, MEASURED_MAX).map(({ path }) => placeOf(location, path));
      setPlaces((before) => new Set([...before, ...counted]));
    },
    forget: () => setPlaces(new Set()),
  };
}

function useSizesOf(places: ReadonlySet<string>): FolderSizes {
  const host = useHost();
  const answers = useQueries({
    queries: [...places].map((place) => ({
      queryKey: ['browse.size', { place }],
      queryFn: ({ signal }: { signal: AbortSignal }) => host.ask('browse.size', { place }, { signal }),
      staleTime: 30_000,
    })),
  });
  const answered = answers.map(({ data, isError }) => (isError ? undefined : (data ?? 'asked')));
  const key = JSON.stringify(answered);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answers are a new list in each rendering; the key stands for its content.
  return useMemo(() => {
    const known = [...places].map((place, index) => [place, answered[index]] as const);
    return new Map(known.filter((one): one is [string, FolderSize | 'asked'] => one[1] !== undefined));
  }, [places, key]);
}
