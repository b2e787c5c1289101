/** Finds which names already exist in a folder, in batches of one message each. */
import { useHost } from '../../host/use-host.tsx';

/** The engine's limit for one request. */
const NAMES_MAX = 500;

export function useTakenNames(): (place: string, names: readonly string[]) => Promise<readonly string[]> {
  const host = useHost();
  return async (place, names) => {
    const taken: string[] = [];
    for (let at = 0; at < names.length; at += NAMES_MAX) {
      const answer = await host.ask('browse.taken', { place, names: names.slice(at, at + NAMES_MAX) });
      taken.push(...answer.names);
    }
    return taken;
  };
}
