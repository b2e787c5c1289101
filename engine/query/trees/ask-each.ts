/** Sends a HEAD for each name. Unlike a listing, it returns the time in the object's metadata. */

import { DrayError } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { headItemOf } from './head-item.ts';
import type { LookupState } from './lookup-state.ts';
import type { MatchedBatch, MatchedPair } from './merge-trees.ts';

/** All at once: the caller bounds the number. A failure is thrown after all others have ended. */
export async function askEach(state: LookupState, items: readonly TreeItem[]): Promise<MatchedBatch> {
  const answers = await Promise.allSettled(
    items.map(async (source): Promise<MatchedPair> => ({ source, destination: await ask(state, source) })),
  );
  const pairs = answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  });
  return { pairs, extras: [] };
}

async function ask(state: LookupState, { path }: TreeItem): Promise<TreeItem | undefined> {
  const { limit, nothingAfter, signal, store, tally } = state;
  if (nothingAfter !== undefined && comparePaths(path, nothingAfter) > 0) return undefined;
  tally.heads += 1;
  try {
    const info = await limit.run(() => store.head(path, { signal }), { bytes: 0, signal });
    if (!info) return undefined;
    tally.destinationSeen += 1;
    return headItemOf(path, info);
  } catch (error) {
    // The store cannot have such a key, so nothing is there. A later write reports why.
    if (error instanceof DrayError && error.code === 'unsafePath') return undefined;
    throw error;
  }
}
