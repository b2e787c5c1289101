/**
 * Distinguishes an empty place from a mistyped one. A bucket has no folders, so a prefix without objects is
 * most likely mistyped. A peer has folders, and they may be empty.
 */
import type { OpenedRemote } from '../session/opened-remote.ts';

/** Always false when the store has no folders. One request to a peer. */
export async function isEmptyFolder(
  { limit, store }: Pick<OpenedRemote, 'limit' | 'store'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { files } = store;
  if (!files) return false;
  const [folder] = await limit.run(() => files.folders.read([''], { signal }), { bytes: 0, signal });
  return folder !== undefined;
}

/** Whether the place has at least one object or file. One request. */
export async function holdsSomething(
  { limit, special, store }: Pick<OpenedRemote, 'limit' | 'store'> & { readonly special?: true },
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
