/**
 * Deletes places, in batches of one message each. Some deletions may succeed and others fail, so the pane is
 * read again in any case.
 */
import { useMutation } from '@tanstack/react-query';
import { useHost, useRefresh } from '../../host/use-host.tsx';

/** The engine's limit for one request. */
const PLACES_MAX = 500;

export function useRemoval() {
  const host = useHost();
  const refresh = useRefresh();
  return useMutation<void, Error, readonly string[]>({
    mutationFn: async (places) => {
      for (let at = 0; at < places.length; at += PLACES_MAX)
        await host.ask('browse.remove', { places: places.slice(at, at + PLACES_MAX) });
    },
    onSettled: () => refresh('browse.list', 'browse.size'),
  });
}
