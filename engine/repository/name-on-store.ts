import type { ObjectStore, RemoteKey } from '../remotes/object-store.ts';

/** For messages: the key, and the one on the store if the repository is encrypted, where names are keyed. */
export function nameOnStore({ sealing }: Pick<ObjectStore, 'sealing'>, key: RemoteKey): string {
  const stored = sealing?.storedKey(key) ?? key;
  return stored === key ? key : `${key} (stored as ${stored})`;
}
