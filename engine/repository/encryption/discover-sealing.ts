/**
 * A store of which nobody knows yet whether its repository is encrypted. What is read first of a repository,
 * the descriptor or a ref, tells; then the keys are asked for, once. So a repository that is not encrypted
 * takes no request more.
 *
 * An absent object tells nothing: its key on the store may be another one. If nothing else was read before,
 * the descriptor is asked.
 */

import type { CallOptions, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { hasSealMagic } from '../../sealing/sealed-content.ts';
import { DESCRIPTOR_MAX_BYTES } from '../descriptor.ts';
import { isJsonObject } from '../document.ts';
import {
  COLLECTION_PREFIX,
  COMMITS_PREFIX,
  DESCRIPTOR_KEY,
  KEY_SLOTS_PREFIX,
  MANIFESTS_PREFIX,
  OBJECTS_PREFIX,
  PACKS_PREFIX,
  RELOCATIONS_PREFIX,
} from '../keys.ts';
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
  let isKnown = false;
  const read: ObjectStore['read'] = async (key, call) => {
    const before = current;
    const found = await before.read(key, call);
    if (before !== unsealed) return found;
    if (!found) return (await findOut(key, call)) ? current.read(key, call) : undefined;
    if (!isOfSealed(key, found.bytes)) {
      isKnown ||= !key.startsWith(KEY_SLOTS_PREFIX);
      return found;
    }
    unlocking ??= unlock();
    const keys = await unlocking;
    if (current === unsealed) current = finish(withSealing(store, keys));
    return key === DESCRIPTOR_KEY ? found : current.read(key, call);
  };
  /** Of a key, or the beginning of one, that is not there. @returns Whether another one is on the store. */
  const findOut = async (key: string, call: CallOptions = {}): Promise<boolean> => {
    if (current === unsealed && !isKnown && KEYED.some((prefix) => key.startsWith(prefix))) {
      const { signal } = call;
      await read(DESCRIPTOR_KEY, { maxBytes: DESCRIPTOR_MAX_BYTES, ...(signal && { signal }) });
    }
    return current !== unsealed;
  };
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
    read,
    head: async (key, call) => {
      await findOut(key, call);
      return current.head(key, call);
    },
    get: async (key, call) => {
      await findOut(key, call);
      return current.get(key, call);
    },
    put: (key, bytes, call) => current.put(key, bytes, call),
    putStream: (key, body, call) => current.putStream(key, body, call),
    list: async (request, call) => {
      await findOut(request.prefix, call);
      return current.list(request, call);
    },
    delete: (keys, call) => current.delete(keys, call),
    copy: (from, to, call) => current.copy(from, to, call),
    close: () => current.close(),
  } as ObjectStore;
}

/** Keys with a hash. */
const KEYED = [
  COMMITS_PREFIX,
  MANIFESTS_PREFIX,
  OBJECTS_PREFIX,
  PACKS_PREFIX,
  RELOCATIONS_PREFIX,
  COLLECTION_PREFIX,
];

function isOfSealed(key: RemoteKey, bytes: Uint8Array): boolean {
  if (key !== DESCRIPTOR_KEY) return hasSealMagic(bytes);
  try {
    const descriptor: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isJsonObject(descriptor) && isJsonObject(descriptor.encryption);
  } catch {
    return false;
  }
}
