/** Whether a place of a store is there at all. A store has no folders: a name under which nothing lies is no place, and most likely mistyped. */
import type { RemoteSide } from './tree-sides.ts';

/** One request. */
export async function holdsSomething(
  { limit, special, store }: RemoteSide,
  signal: AbortSignal,
): Promise<boolean> {
  if (special) {
    for await (const entries of store.files!.entries({ signal })) if (entries.length > 0) return true;
    return false;
  }
  const { objects } = await limit.run(() => store.list({ prefix: '', limit: 1 }, { signal }), {
    bytes: 0,
    signal,
  });
  return objects.length > 0;
}
