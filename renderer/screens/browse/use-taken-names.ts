/** Which names a folder holds already, asked in pieces that one message carries. */
import { useHost } from '../../host/use-host.tsx';

/** As many as the engine takes at once. */
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
