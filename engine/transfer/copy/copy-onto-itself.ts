/** Changes an object's description, such as its time, by a copy onto itself that transfers no bytes. */
import { keptDescription } from '../../remotes/kept-description.ts';
import type { ObjectDescription, ObjectInfo, ObjectStore, PutOutcome } from '../../remotes/object-store.ts';
import type { UploadJournal } from '../upload/upload-journal.ts';
import { COPY_ONCE_BYTES } from './copy-in-store.ts';
import { copyInParts } from './copy-parts.ts';

export interface CopyOntoItself {
  readonly store: ObjectStore;
  /** The expected state of the object. Its description stays, except for `metadata`. */
  readonly info: ObjectInfo;
  readonly metadata: NonNullable<ObjectDescription['metadata']>;
  /** With it, an interrupted copy in parts is resumed. */
  readonly journal?: UploadJournal;
  readonly signal?: AbortSignal | undefined;
  /**
   * Default 5 GiB. Larger objects are copied in parts, each of which is retried by itself after a temporary
   * failure.
   */
  readonly copyOnceBytes?: number;
}

/** @throws DrayError `conflict` when the object was replaced meanwhile, and the store's errors. */
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
