/** Keeps what scenarios share until no later one names it. */

import { clearFolders } from '../data/clear-folders.ts';
import type { Holding } from './holding.ts';

export interface Held<Thing> {
  readonly thing: Thing;
  /** Its folders, which are removed with it. */
  readonly folders: readonly string[];
}

export interface Holdings {
  /** Returns what the first call made. A failed call is repeated. */
  hold<Thing>(holding: Holding, make: () => Promise<Held<Thing>>): Promise<Thing>;
  /** Removes all other holdings. */
  keepOnly(names: ReadonlySet<string>): Promise<void>;
  /** The names of the holdings. */
  names(): readonly string[];
}

/** @param own Called with the folders of each holding that is made. */
export function createHoldings(own: (folders: readonly string[]) => void): Holdings {
  const held = new Map<string, Promise<Held<unknown>>>();
  return {
    hold: async <Thing>({ name }: Holding, make: () => Promise<Held<Thing>>) => {
      // One name always stands for one kind of thing.
      const present = held.get(name) as Promise<Held<Thing>> | undefined;
      if (present) return (await present).thing;
      const making = make();
      held.set(name, making);
      try {
        const { folders, thing } = await making;
        own(folders);
        return thing;
      } catch (error) {
        held.delete(name);
        throw error;
      }
    },
    keepOnly: async (names) => {
      for (const [name, made] of held) {
        if (names.has(name)) continue;
        held.delete(name);
        await clearFolders(...(await made).folders);
      }
    },
    names: () => [...held.keys()],
  };
}
