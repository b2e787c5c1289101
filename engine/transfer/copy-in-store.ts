/** Copies inside one service: no bytes travel. What lies there in the end is confirmed like any upload. */
import { DrayError, type ErrorCode } from '../api/error.ts';
import type {
  CopySource,
  ObjectDescription,
  ObjectInfo,
  ObjectStore,
  PutOutcome,
  RemoteKey,
} from '../remotes/object-store.ts';

export interface StoreCopy {
  readonly from: ObjectStore;
  readonly fromKey: RemoteKey;
  /** The same store, or one of the same service (`sharesService`). */
  readonly to: ObjectStore;
  readonly toKey: RemoteKey;
  /** The state that is meant: another one is `io` with reason `changedWhileRead`. */
  readonly info: Pick<ObjectInfo, 'etag' | 'sizeBytes' | 'checksums'>;
  /** Replaces the source's. */
  readonly description?: ObjectDescription;
  readonly storageClass?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface StoreCopied {
  readonly outcome: PutOutcome;
  /** '' where the store tells none. */
  readonly etag: string;
}

/** The store will not do it here, now or later, whichever object it is asked for. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['accessDenied', 'unsupported']);

/**
 * Undefined when the store refuses to copy, so that the caller lets the bytes travel.
 * @throws DrayError `io` with `data.reason` `changedWhileRead` or `vanished`, `damaged` when the copy is not the source.
 */
export async function copyInStore(request: StoreCopy): Promise<StoreCopied | undefined> {
  try {
    return await copyOnce(request);
  } catch (error) {
    if (error instanceof DrayError && REFUSALS.has(error.code)) return undefined;
    throw error;
  }
}

async function copyOnce(request: StoreCopy): Promise<StoreCopied> {
  const { description, info, signal, storageClass, to, toKey } = request;
  const outcome = await to.copy(sourceOf(request), toKey, {
    ...(info.etag === '' ? {} : { ifMatch: info.etag }),
    sizeBytes: info.sizeBytes,
    ...(description && { description }),
    ...(storageClass === undefined ? {} : { storageClass }),
    ...(signal && { signal }),
  });
  return { outcome, etag: outcome.written ? outcome.etag : '' };
}

function sourceOf({ from, fromKey, to }: StoreCopy): CopySource {
  if (from === to || from.place === undefined) return fromKey;
  const { bucket, keyPrefix } = from.place;
  return { bucket, key: keyPrefix + fromKey };
}
