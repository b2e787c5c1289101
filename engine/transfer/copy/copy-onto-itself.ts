/** Another description for an object of a store, such as its time: by a copy onto itself, without the bytes travelling. */
import { keptDescription } from '../../remotes/kept-description.ts';
import type { ObjectDescription, ObjectInfo, ObjectStore, PutOutcome } from '../../remotes/object-store.ts';
import type { UploadJournal } from '../upload/upload-journal.ts';
import { COPY_ONCE_BYTES } from './copy-in-store.ts';
import { copyInParts } from './copy-parts.ts';

export interface CopyOntoItself {
  readonly store: ObjectStore;
  /** The object as it is meant. All that describes it stays, but for `metadata`. */
  readonly info: ObjectInfo;
  readonly metadata: NonNullable<ObjectDescription['metadata']>;
  /** With it, a copy in parts that broke off goes on. */
  readonly journal?: UploadJournal;
  readonly signal?: AbortSignal | undefined;
  /** Default 5 GiB. Larger objects are copied in parts, each of which is repeated by itself where it fails for a reason that passes. */
  readonly copyOnceBytes?: number;
}

/** @throws DrayError `conflict` when the object is not the one that is meant any more, and what the store throws. */
export async function copyOntoItself(request: CopyOntoItself): Promise<PutOutcome> {
  const { copyOnceBytes = COPY_ONCE_BYTES, info, journal, metadata, signal, store } = request;
  const { etag, key, sizeBytes, storageClass } = info;
  const description = {
    ...keptDescription(info),
    ...(storageClass === undefined ? {} : { storageClass }),
    metadata,
  };
  if (sizeBytes > copyOnceBytes && store.multipart) {
    const places = { from: store, fromKey: key, source: key, to: store, toKey: key };
    return copyInParts({ ...places, info, description, ...(journal ? { journal } : {}), signal });
  }
  return store.copy(key, key, {
    ...(etag === '' ? {} : { ifMatch: etag }),
    sizeBytes,
    description,
    ...(signal && { signal }),
  });
}
