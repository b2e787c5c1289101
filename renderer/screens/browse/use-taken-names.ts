/** Finds which of the chosen names already exist in a folder, in batches of one request each. */
import { useHost } from '../../host/use-host.tsx';
import type { Chosen } from './copy-orders.ts';
import { nameOf } from './places.ts';

/** The engine's limit for one request. */
const NAMES_MAX = 500;

export interface TakenNames {
  /** The first names that exist. */
  readonly names: readonly string[];
  readonly total: number;
}

export function useTakenNames(): (
  place: string,
  given: Pick<Chosen, 'all' | 'paths'>,
) => Promise<TakenNames> {
  const host = useHost();
  return async (place, { all, paths }) => {
    if (all) {
      const { count: _, ...chosen } = all;
      return host.ask('browse.taken', { place, all: chosen });
    }
    const given = paths.map(nameOf);
    const names: string[] = [];
    for (let at = 0; at < given.length; at += NAMES_MAX) {
      const answer = await host.ask('browse.taken', { place, names: given.slice(at, at + NAMES_MAX) });
      names.push(...answer.names);
    }
    return { names, total: names.length };
  };
}
