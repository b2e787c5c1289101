/** A HEAD for each name. Tells more than a listing does: the time that the object's metadata hold. */

import { DrayError } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { headItemOf } from './head-item.ts';
import type { LookupState } from './lookup-state.ts';
import type { MatchedBatch, MatchedPair } from './merge-trees.ts';

/** All at once: the caller bounds how many. When one fails, the others have ended too. */
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
    // No key of this store, so nothing lies there. Whoever writes it is told why it cannot be.
    if (error instanceof DrayError && error.code === 'unsafePath') return undefined;
    throw error;
  }
}
