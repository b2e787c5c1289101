/**
 * S3 without the SDK: signed by `s3-signer.ts`, sent by `http-exchange.ts`. On a local server this is about three times the
 * SDK's requests for each second of CPU, and the SDK, which takes about 90 ms of it to load, is left out.
 */
import type { ObjectStore, StorePlace } from '../../object-store.ts';
import { putStreamInParts } from '../../stream-in-parts.ts';
import { writeOrSeeRefusal } from '../condition-preview.ts';
import { createLeanClient, type S3Connection } from '../s3-connection.ts';
import type { Lean } from './lean-call.ts';
import { copy } from './lean-copy.ts';
import { deleteKeys } from './lean-delete.ts';
import { createLeanMultipart } from './lean-multipart.ts';
import { get, head, list, put, read } from './lean-objects.ts';
import { partsOf } from './lean-parts.ts';

export function createLeanS3Store(connection: S3Connection, storePlace?: StorePlace): ObjectStore {
  const client = createLeanClient(connection);
  const siblings = new Map<string, ObjectStore>();
  const lean: Lean = {
    client,
    connection,
    verified: new Set(),
    siblingOf(bucket) {
      const known = siblings.get(bucket);
      if (known) return known;
      const place = { ...connection.place, bucket, keyPrefix: '', address: `s3://${bucket}` };
      const opened = createLeanS3Store({ ...connection, place });
      siblings.set(bucket, opened);
      return opened;
    },
  };
  const multipart = createLeanMultipart(lean);
  const single: Pick<ObjectStore, 'head' | 'put'> = {
    head: (key, options = {}) => head(lean, key, options),
    put: (key, bytes, options = {}) =>
      writeOrSeeRefusal({ bytes, options, head: () => head(lean, key, options) }, () =>
        put(lean, key, bytes, options),
      ),
  };
  return {
    address: connection.place.address,
    provider: connection.place.provider,
    ...(storePlace ? { place: storePlace } : {}),
    ...single,
    get: (key, options = {}) => get(lean, key, options),
    read: (key, options) => read(lean, key, options),
    putStream: (key, body, options = {}) => putStreamInParts({ ...single, multipart }, key, body, options),
    list: (request, options = {}) => list(lean, request, options),
    delete: (keys, options = {}) => deleteKeys(lean, keys, options),
    copy: (from, to, options = {}) => copy(lean, multipart, { from, to }, options),
    parts: (key, options = {}) => partsOf(lean, key, options),
    multipart,
    close: async () => {
      const others = [...siblings.values()].map((store) => store.close());
      siblings.clear();
      await Promise.all([client.close(), ...others]);
    },
  };
}
