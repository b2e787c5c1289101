/**
 * Whether a place at a store is there though nothing was found in it. A store has no folders: a name under which nothing lies is no place, and
 * most likely mistyped. A peer has folders, also empty ones.
 */
import type { Connection } from './connection.ts';
import type { RemoteSide } from './tree-sides.ts';

/** Only of a peer can it be one. One request. */
export async function isEmptyFolder(
  { limit, store }: Pick<Connection, 'limit' | 'store'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { files } = store;
  if (!files) return false;
  const [folder] = await limit.run(() => files.folders.read([''], { signal }), { bytes: 0, signal });
  return folder !== undefined;
}

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
