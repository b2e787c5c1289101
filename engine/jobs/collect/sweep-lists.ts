/**
 * Removes lists of rounds that are over: those of this round, and those that killed collectors left. No age
 * counts. A list says its round, and after that round no state can come to name it.
 */
import { isDamage } from '../../base/read-checked.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { roundOfAvoidList } from '../../repository/collection/avoid-list.ts';
import type { CollectionState } from '../../repository/collection/collection-state.ts';
import { roundOfKeyList } from '../../repository/collection/key-list.ts';
import { roundOfRefRecord } from '../../repository/collection/ref-record.ts';
import { readList } from '../../repository/collection/stored-list.ts';
import { COLLECTION_PREFIX, isHash } from '../../repository/keys.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import { removeKeys } from './condemned-keys.ts';

/** @param ended Lists of a round that is over: they need not be read. */
export async function sweepLists(
  tools: WalkTools,
  { avoid, candidates, phase, refs, rescued, round }: CollectionState,
  ended: readonly string[],
): Promise<void> {
  const { context, store } = tools;
  const { signal } = context;
  const named = new Set([...avoid, ...candidates, ...rescued, refs]);
  const known = new Set(ended);
  const last = phase === 'done' ? round : round - 1;
  const isOver = async (name: string) => known.has(name) || (await roundOf(store, name, signal)) <= last;
  for (let continuation: string | undefined; ; ) {
    const from = continuation === undefined ? {} : { continuation };
    const page = await store.list({ prefix: COLLECTION_PREFIX, ...from }, { signal });
    const over: RemoteKey[] = [];
    for (const { key } of page.objects) {
      const name = key.slice(COLLECTION_PREFIX.length).replace('/', '');
      if (isHash(name) && !named.has(name) && (await isOver(name))) over.push(key);
    }
    if (over.length > 0) await removeKeys(tools, over, signal);
    continuation = page.continuation;
    if (continuation === undefined) return;
  }
}

/** Infinite for a list that cannot be read, and for one that is gone. */
async function roundOf(store: ObjectStore, name: string, signal: AbortSignal): Promise<number> {
  try {
    const raw = await readList(store, name, { signal });
    return roundOfAvoidList(raw) ?? roundOfKeyList(raw) ?? roundOfRefRecord(raw) ?? Number.POSITIVE_INFINITY;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return Number.POSITIVE_INFINITY;
  }
}
