/**
 * A store of which nobody knows yet whether its repository is encrypted. What is read first of a repository,
 * the descriptor or a ref, tells; then the keys are asked for, once. So a repository that is not encrypted
 * takes no request more.
 */

import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { hasSealMagic } from '../../sealing/sealed-content.ts';
import { isJsonObject } from '../document.ts';
import { DESCRIPTOR_KEY } from '../keys.ts';
import type { SealKeys } from './seal-keys.ts';
import { withSealing } from './with-sealing.ts';

/** @param finish Wraps the store whose content is plain. */
export function discoverSealing(
  store: ObjectStore,
  unlock: () => Promise<SealKeys>,
  finish: (store: ObjectStore) => ObjectStore,
): ObjectStore {
  const unsealed = finish(store);
  let current = unsealed;
  let unlocking: Promise<SealKeys> | undefined;
  return {
    address: store.address,
    provider: store.provider,
    get place() {
      return current.place;
    },
    get confirmsWrites() {
      return current.confirmsWrites;
    },
    get sealing() {
      return current.sealing;
    },
    get parts() {
      return current.parts;
    },
    get multipart() {
      return current.multipart;
    },
    get files() {
      return current.files;
    },
    async read(key, call) {
      const before = current;
      const read = await before.read(key, call);
      if (before !== unsealed || !read || !isOfSealed(key, read.bytes)) return read;
      unlocking ??= unlock();
      const keys = await unlocking;
      if (current === unsealed) current = finish(withSealing(store, keys));
      return key === DESCRIPTOR_KEY ? read : current.read(key, call);
    },
    head: (key, call) => current.head(key, call),
    get: (key, call) => current.get(key, call),
    put: (key, bytes, call) => current.put(key, bytes, call),
    putStream: (key, body, call) => current.putStream(key, body, call),
    list: (request, call) => current.list(request, call),
    delete: (keys, call) => current.delete(keys, call),
    copy: (from, to, call) => current.copy(from, to, call),
    close: () => current.close(),
  } as ObjectStore;
}

function isOfSealed(key: RemoteKey, bytes: Uint8Array): boolean {
  if (key !== DESCRIPTOR_KEY) return hasSealMagic(bytes);
  try {
    const descriptor: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isJsonObject(descriptor) && isJsonObject(descriptor.encryption);
  } catch {
    return false;
  }
}
