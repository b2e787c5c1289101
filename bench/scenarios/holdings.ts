/** Keeps what scenarios have in common until none to come names it. */

import { clearFolders } from '../data/clear-folders.ts';
import type { Holding } from './holding.ts';

export interface Held<Thing> {
  readonly thing: Thing;
  /** Where it lies: removed with it. */
  readonly folders: readonly string[];
}

export interface Holdings {
  /** What was made at the first call. What failed is made again. */
  hold<Thing>(holding: Holding, make: () => Promise<Held<Thing>>): Promise<Thing>;
  /** Removes all others. */
  keepOnly(names: ReadonlySet<string>): Promise<void>;
  /** Of those that are held. */
  names(): readonly string[];
}

/** @param own Told of the folders of each that was made. */
export function createHoldings(own: (folders: readonly string[]) => void): Holdings {
  const held = new Map<string, Promise<Held<unknown>>>();
  return {
    hold: async <Thing>({ name }: Holding, make: () => Promise<Held<Thing>>) => {
      // One name is always asked for with one kind of thing.
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
