/**
 * Clips a store's listings to a range of keys, so that a job on the whole store does a part of the work. All
 * other calls pass unchanged: a part reads and writes the keys that its listing shows.
 */
import assert from 'node:assert';
import { DrayError } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import type { ListedObject, ObjectStore, RemoteKey } from '../object-store.ts';
import { wrapStore } from './wrap-store.ts';

/** The keys after `after`, up to and including `upTo`, in byte order. An absent bound is open. */
export interface KeyRange {
  readonly after?: RemoteKey;
  readonly upTo?: RemoteKey;
}

/** @throws `unsupported` from `list` when the store lists without order: its keys have no ranges. */
export function withinRange(store: ObjectStore, { after, upTo }: KeyRange): ObjectStore {
  const plain = wrapStore(store, (_name, _signal, send) => send());
  return {
    ...plain,
    async list(request, call) {
      assert(request.delimiter === undefined, 'A range is not listed by folders.');
      const { continuation, startAfter } = request;
      const isClipped = continuation === undefined && after !== undefined && isLater(after, startAfter);
      const page = await store.list(isClipped ? { ...request, startAfter: after } : request, call);
      checkOrder(store, page.objects);
      const last = page.objects.at(-1);
      if (upTo === undefined || last === undefined || comparePaths(last.key, upTo) < 0) return page;
      const objects = page.objects.filter(({ key }) => comparePaths(key, upTo) <= 0);
      return { objects, folders: [], ...(page.problems ? { problems: page.problems } : {}) };
    },
  };
}

function isLater(after: RemoteKey, startAfter: RemoteKey | undefined): boolean {
  return startAfter === undefined || comparePaths(after, startAfter) > 0;
}

function checkOrder({ address }: ObjectStore, objects: readonly ListedObject[]): void {
  for (let at = 1; at < objects.length; at += 1)
    if (comparePaths(objects[at - 1]!.key, objects[at]!.key) > 0) throw listsInNoOrder(address);
}

export function listsInNoOrder(address: string): DrayError {
  const message = `${address} lists its objects without order, so several workers cannot divide them.`;
  return new DrayError('unsupported', message, {
    data: { reason: 'unordered' },
    advice: 'Use "dray copy", "dray sync" or "dray check".',
  });
}
