/**
 * The fence of a round: every ref gets the round's number as its epoch, by compare-and-swap. Who read a ref
 * before cannot move it any more: the move fails, its writer reads the round, and stores again under other
 * keys what the round has condemned. A move that came before is seen by the second mark.
 *
 * A pending ref becomes a removed one. If its maker lives, it writes the ref again, knowing the round. If it
 * was killed, nobody else would ever remove the ref, and what it needs would stay for good.
 */
import { TaskSet } from '../../base/task-set.ts';
import { type AnyRef, listAnyRefs, writeAnyRef } from '../../repository/refs.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';

/**
 * Every ref, removed ones included, as a listing that begins now finds them.
 * @param known Those that were read before: only what has changed since is read again.
 */
export async function readAllRefs(
  { context: { signal }, store }: WalkTools,
  known: readonly AnyRef[] = [],
): Promise<readonly AnyRef[]> {
  const [heads, tags] = await Promise.all([
    listAnyRefs(store, 'heads', { signal }, known),
    listAnyRefs(store, 'tags', { signal }, known),
  ]);
  return [...heads, ...tags];
}

/**
 * A ref that is made meanwhile needs no fence: it is pending first, and its maker reads the state then.
 * @param known As of `readAllRefs`. @returns The refs with their fence.
 */
export async function fenceRefs(
  tools: WalkTools,
  round: number,
  known: readonly AnyRef[] = [],
): Promise<readonly AnyRef[]> {
  const fenced: AnyRef[] = [];
  const tasks = new TaskSet(tools.context.signal);
  for (const ref of await readAllRefs(tools, known))
    tasks.spawn(async () => {
      const now = await fenceRef(tools, ref, { round, signal: tasks.signal });
      if (now) fenced.push(now);
    });
  await tasks.settle();
  tasks.end();
  return fenced;
}

async function fenceRef(
  { limit, store }: WalkTools,
  ref: AnyRef,
  { round, signal }: { readonly round: number; readonly signal: AbortSignal },
): Promise<AnyRef | undefined> {
  const raise = async (current: AnyRef): Promise<AnyRef | undefined> => {
    const state = current.state === 'pending' ? 'removed' : current.state;
    const fenced: AnyRef = { ...current, state, epoch: round, collects: true };
    const expected = { etag: current.etag };
    return (await writeAnyRef(store, ref.name, fenced, expected, { signal })).current;
  };
  let current: AnyRef | undefined = ref;
  // Whoever moved it in between may have left the old epoch.
  while (current && needsFence(current, round)) {
    const seen: AnyRef = current;
    current = await limit.run(() => raise(seen), { bytes: 0, signal });
  }
  return current;
}

/** A removed ref is no root, and its name is made anew as a pending one. */
function needsFence({ collects, epoch, state }: AnyRef, round: number): boolean {
  return state !== 'removed' && (epoch < round || collects !== true);
}
