/**
 * The S3 store. Its hot calls write and read their requests themselves, for about a third of the SDK's CPU
 * time. The seldom ones load the SDK (`calls/sdk-call.ts`).
 */
import type { ObjectStore, StorePlace } from '../object-store.ts';
import { writeOrSeeRefusal } from './calls/condition-preview.ts';
import { copy } from './calls/copy.ts';
import { deleteKeys } from './calls/delete.ts';
import { listVersions } from './calls/list-versions.ts';
import { createMultipart } from './calls/multipart.ts';
import { partsOf } from './calls/object-parts.ts';
import { get, head, list, put, read } from './calls/objects.ts';
import { putStream } from './calls/put-stream.ts';
import type { S3Caller } from './calls/s3-call.ts';
import { createS3Sender, type S3Connection } from './s3-connection.ts';

export function createS3Store(connection: S3Connection, storePlace?: StorePlace): ObjectStore {
  const client = createS3Sender(connection);
  const siblings = new Map<string, ObjectStore>();
  const caller: S3Caller = {
    client,
    connection,
    verified: new Set(),
    siblingOf(bucket) {
      const known = siblings.get(bucket);
      if (known) return known;
      const place = { ...connection.place, bucket, keyPrefix: '', address: `s3://${bucket}` };
      const opened = createS3Store({ ...connection, place });
      siblings.set(bucket, opened);
      return opened;
    },
  };
  const multipart = createMultipart(caller);
  const single: Pick<ObjectStore, 'head' | 'put'> = {
    head: (key, options = {}) => head(caller, key, options),
    put: (key, bytes, options = {}) =>
      writeOrSeeRefusal({ bytes, options, head: () => head(caller, key, options) }, () =>
        put(caller, key, bytes, options),
      ),
  };
  return {
    address: connection.place.address,
    provider: connection.place.provider,
    ...(storePlace ? { place: storePlace } : {}),
    ...single,
    get: (key, options = {}) => get(caller, key, options),
    read: (key, options) => read(caller, key, options),
    putStream: (key, body, options = {}) => putStream({ ...single, multipart }, key, body, options),
    list: (request, options = {}) => list(caller, request, options),
    delete: (keys, options = {}) => deleteKeys(caller, keys, options),
    copy: (from, to, options = {}) => copy(caller, multipart, { from, to }, options),
    parts: (key, options = {}) => partsOf(caller, key, options),
    versions: (request, options = {}) => listVersions(caller, request, options),
    multipart,
    close: async () => {
      const others = [...siblings.values()].map((store) => store.close());
      siblings.clear();
      await Promise.all([client.close(), ...others]);
    },
  };
}
