/** The candidates that a ref has come to need, and the removal of all others. */
import { Budget } from '../../base/budget.ts';
import { TaskSet } from '../../base/task-set.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import type { CollectionState } from '../../repository/collection/collection-state.ts';
import { decodeKeyList } from '../../repository/collection/key-list.ts';
import { readList } from '../../repository/collection/stored-list.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import { KeyLists } from './candidate-lists.ts';
import { LiveKeys } from './live-keys.ts';

const KEYS_PER_DELETE = 1_000;
/** Lists of 1,000 keys that are removed or wait for it. */
const DELETES_BEGUN_MAX = 64;

export interface Rescued {
  readonly lists: readonly string[];
  readonly objects: number;
}

export async function findRescued(
  tools: WalkTools,
  { candidates, round, run }: CollectionState,
  isNeeded: (key: RemoteKey) => Promise<boolean>,
): Promise<Rescued> {
  const { signal } = tools.context;
  const lists = new KeyLists(tools.store, { round, run, kind: 'rescued' }, { signal });
  let objects = 0;
  for (const name of candidates) {
    const rescued: RemoteKey[] = [];
    for (const key of await readKeys(tools, name)) if (await isNeeded(key)) rescued.push(key);
    objects += rescued.length;
    await lists.add(rescued);
  }
  return { lists: await lists.finish(), objects };
}

export interface RemovalOptions {
  /** Spares what is needed after all. */
  readonly isNeeded: (key: RemoteKey) => Promise<boolean> | boolean;
  /** Called with the number of keys after each request. */
  readonly onRemoved: (keys: number) => void;
}

export async function removeCondemned(
  tools: WalkTools,
  { candidates, rescued }: CollectionState,
  { isNeeded, onRemoved }: RemovalOptions,
): Promise<void> {
  const spared = new LiveKeys();
  for (const name of rescued) for (const key of await readKeys(tools, name)) spared.add(key);
  const tasks = new TaskSet(tools.context.signal);
  const room = new Budget(DELETES_BEGUN_MAX);
  try {
    for (const name of candidates) {
      const keys: RemoteKey[] = [];
      for (const key of await readKeys(tools, name))
        if (!spared.has(key) && !(await isNeeded(key))) keys.push(key);
      for (let at = 0; at < keys.length; at += KEYS_PER_DELETE) {
        const permit = await room.acquire(1, tasks.signal);
        const batch = keys.slice(at, at + KEYS_PER_DELETE);
        tasks.spawn(() =>
          removeKeys(tools, batch, tasks.signal)
            .then(() => onRemoved(batch.length))
            .finally(() => permit.release()),
        );
      }
    }
  } catch (error) {
    tasks.fail(error);
  }
  await tasks.settle();
  tasks.end();
}

export function removeKeys(
  { limit, store }: WalkTools,
  keys: readonly RemoteKey[],
  signal: AbortSignal,
): Promise<void> {
  return limit.run(() => store.delete(keys, { signal }), { bytes: 0, signal });
}

async function readKeys(
  { context: { signal }, store }: WalkTools,
  name: string,
): Promise<readonly RemoteKey[]> {
  return decodeKeyList(name, await readList(store, name, { signal }));
}
