/** Deletes places, in pieces that one message carries. Some may be gone though others stayed, so what is shown is read again in any case. */
import { useMutation } from '@tanstack/react-query';
import { useHost, useRefresh } from '../../host/use-host.tsx';

/** As many as the engine takes at once. */
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
