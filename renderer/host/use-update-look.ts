/** The last look for updates of this page, shown wherever it is asked for; it belongs to the settings that it was made by. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { DrayError } from '../../engine/api/error.ts';
import type { Settings, UpdateLook } from '../../engine/api/host.ts';
import { useHost } from './use-host.tsx';

/** Looks when it is told to (`refetch`), never by itself. */
export function useUpdateLook(
  updates: Settings['updates'] | undefined,
): UseQueryResult<UpdateLook, DrayError> {
  const host = useHost();
  return useQuery<UpdateLook, DrayError>({
    queryKey: ['updates.look', updates],
    queryFn: ({ signal }) => host.ask('updates.look', {}, { signal }),
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  });
}
