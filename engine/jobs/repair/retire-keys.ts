/**
 * Retires keys whose objects are damaged: no writer names them in new content any more, nor takes what lies
 * there for the content. It is a round of the collection without candidates, so nothing is removed: the keys
 * join the avoid lists, and the fence tells every writer. Content that comes back gets the round as its
 * generation, and so a key that was never written.
 *
 * A round that a collector left unfinished ends here: its candidates stay on the avoid lists, and the next
 * collection finds those that are still garbage. Its own DELETEs concern keys that nothing new names.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { ListedObject, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import {
  type CollectionState,
  readCollectionState,
  writeCollectionState,
} from '../../repository/collection/collection-state.ts';
import { AvoidLists } from '../collect/candidate-lists.ts';
import { fenceRefs } from '../collect/fence-refs.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';

export interface RetireTools extends WalkTools {
  readonly clock: Clock;
  /** The repository's id. */
  readonly repository: string;
}

/**
 * Up to the number of refs more requests than a state and a list take.
 * @param keys Not avoided yet.
 * @param forgotten How many commits the round knows as forgotten. Default: as many as the one before.
 */
export async function retireKeys(
  tools: RetireTools,
  keys: readonly RemoteKey[],
  forgotten?: number,
): Promise<void> {
  await fenceRefs(tools, await beginRound(tools, keys, forgotten));
}

/** One LIST: a HEAD would check a document of an encrypted repository, and fail if it is damaged. */
export async function findStored(
  store: ObjectStore,
  key: RemoteKey,
  signal: AbortSignal,
): Promise<ListedObject | undefined> {
  const { objects } = await store.list({ prefix: key, limit: 1 }, { signal });
  return objects.find((object) => object.key === key);
}

/** @returns The round. */
async function beginRound(
  { clock, context: { signal }, repository, store }: RetireTools,
  keys: readonly RemoteKey[],
  counted: number | undefined,
): Promise<number> {
  for (;;) {
    const stored = await readCollectionState(store, { signal });
    const { avoid: earlier = [], forgotten = 0, refs, round = 0 } = stored?.state ?? {};
    const head = { round: round + 1, run: randomUUID() };
    const avoid = new AvoidLists(store, head, { signal });
    await avoid.add(keys);
    const next: CollectionState = {
      repository,
      ...head,
      phase: 'done',
      started: new Date(clock.nowMs()).toISOString(),
      grace: 0,
      forgotten: counted ?? forgotten,
      candidates: [],
      rescued: [],
      avoid: [...(await avoid.finish(earlier))],
      ...(refs === undefined ? {} : { refs }),
      removed: { objects: 0, bytes: 0 },
    };
    const after = await writeCollectionState(store, next, stored, { signal });
    if (after?.state.run === next.run) return next.round;
  }
}
