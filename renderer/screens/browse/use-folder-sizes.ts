/** Sizes of folders, counted on request. */
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { AnswerOf } from '../../../engine/api/host.ts';
import { useHost } from '../../host/use-host.tsx';

export type FolderSize = AnswerOf<'browse.size'>;

/** By place. A place that could not be counted is missing. */
export type FolderSizes = ReadonlyMap<string, FolderSize | 'asked'>;

export function useFolderSizes(places: ReadonlySet<string>): FolderSizes {
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
