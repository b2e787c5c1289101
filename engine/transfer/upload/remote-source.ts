/**
 * An object of another store as the source of an upload: one request reads, the next one writes, without a
 * disk.
 */
import { DrayError } from '../../api/error.ts';
import { readChecked } from '../../base/read-checked.ts';
import type { ObjectBytes, ObjectInfo, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import type { AdaptiveLimit } from '../limit/adaptive-limit.ts';
import type { ObjectSource } from './object-source.ts';

export interface RemoteSourceOptions {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** From a HEAD, a listing or a GET: the only accepted state. */
  readonly info: Pick<ObjectInfo, 'etag' | 'modifiedMs' | 'sizeBytes'>;
  /** The reading store's. */
  readonly limit: AdaptiveLimit;
}

/**
 * Its token is the etag. Each range is read under If-Match, so the bytes are of one state. Where the store
 * has no etags, size and modification time are checked again at the end.
 */
export function openRemoteSource(options: RemoteSourceOptions): ObjectSource {
  const { info, key, limit, store } = options;
  const condition = info.etag === '' ? {} : { ifMatch: info.etag };
  return {
    name: key,
    sizeBytes: info.sizeBytes,
    token: info.etag,
    limit,
    async read(start, into, signal) {
      const range = { start, end: start + into.byteLength };
      const request = { ...condition, range, maxBytes: into.byteLength, into, signal };
      const read = () =>
        limit
          .run(() => store.read(key, request), { bytes: into.byteLength, signal })
          .catch((error: unknown) => {
            throw isConflict(error) ? changed(key, error) : error;
          });
      const bytes = await readChecked(read, (answer) => {
        checkAnswer(answer, options, into.byteLength);
        return answer.bytes;
      });
      if (bytes === undefined) throw vanished(key);
      return bytes;
    },
    async checkUnchanged() {
      if (info.etag !== '') return;
      const now = await store.head(key);
      if (now === undefined) throw vanished(key);
      if (now.sizeBytes !== info.sizeBytes || now.modifiedMs !== info.modifiedMs) throw changed(key);
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The etag of the answer reveals a store that ignores If-Match. */
function checkAnswer(answer: ObjectBytes, { info, key }: RemoteSourceOptions, wantedBytes: number): void {
  const isOther = info.etag !== '' && answer.etag !== '' && answer.etag !== info.etag;
  if (isOther || answer.info.sizeBytes !== info.sizeBytes) throw changed(key);
  if (answer.bytes.byteLength === wantedBytes) return;
  const message = `${key}: the store sent ${answer.bytes.byteLength} bytes of the ${wantedBytes} asked for.`;
  throw new DrayError('damaged', message, { data: { key } });
}

function isConflict(error: unknown): boolean {
  return error instanceof DrayError && error.code === 'conflict';
}

export function changed(key: RemoteKey, cause?: unknown): DrayError {
  return new DrayError('io', `${key} changed while it was read. Copy it again when nothing writes to it.`, {
    data: { path: key, reason: 'changedWhileRead' },
    cause,
  });
}

export function vanished(key: RemoteKey): DrayError {
  return new DrayError('io', `${key} no longer exists.`, { data: { path: key, reason: 'vanished' } });
}
