/** Counts a store's requests, by class of the price list, and bytes. It wraps below the retry wrapper. */
import type { RequestTotals } from '../../api/jobs/jobs.ts';
import { dollarsFor, type RequestCounts } from '../../model/prices.ts';
import type { FileCalls } from '../file-calls.ts';
import type { ObjectRead, ObjectStore } from '../object-store.ts';
import { streamRequests } from '../stream-part-size.ts';
import { type CallName, wrapStore } from './wrap-store.ts';

export type RequestClass = keyof RequestCounts;

export interface Meter {
  totals(): RequestTotals;
  count(requestClass: RequestClass, requests?: number): void;
  sent(bytes: number): void;
  received(bytes: number): void;
  /** For the connections: bytes as they travel, both ways, long before a large object is done. */
  onWire(bytes: number): void;
  /** Bytes sent and received; 0 if the store has no connections that report them. */
  wireBytes(): number;
  /** Called whenever some travelled; replaces the previous listener. */
  watchWire(listener: () => void): void;
  /** Sets the row of the price table, unless it is known. */
  pricedAs(provider: string): void;
}

/** @param provider A row of the price table; default: the one of the first store that the meter is put on. */
export function createMeter(provider?: string): Meter {
  let priced = provider;
  const counts = { reads: 0, writes: 0, lists: 0, deletes: 0 };
  let sentBytes = 0;
  let receivedBytes = 0;
  let wireBytes = 0;
  let onWire: (() => void) | undefined;
  return {
    totals: () => ({
      ...counts,
      total: counts.reads + counts.writes + counts.lists + counts.deletes,
      sentBytes,
      receivedBytes,
      dollars: dollarsFor(priced ?? 'local', counts),
    }),
    count(requestClass, requests = 1) {
      counts[requestClass] += requests;
    },
    sent(bytes) {
      sentBytes += bytes;
    },
    received(bytes) {
      receivedBytes += bytes;
    },
    onWire(bytes) {
      wireBytes += bytes;
      onWire?.();
    },
    wireBytes: () => wireBytes,
    watchWire(listener) {
      onWire = listener;
    },
    pricedAs(named) {
      priced ??= named;
    },
  };
}

const DELETED_AT_ONCE_MAX = 1000;

/** The calls that are no reads. */
const CLASSES: Partial<Record<CallName, RequestClass>> = {
  list: 'lists',
  versions: 'lists',
  put: 'writes',
  putStream: 'writes',
  copy: 'writes',
  'multipart.create': 'writes',
  'multipart.uploadPart': 'writes',
  'multipart.uploadPartCopy': 'writes',
  'multipart.listParts': 'lists',
  'multipart.complete': 'writes',
  'multipart.abort': 'deletes',
  'multipart.listUploads': 'lists',
  'files.write': 'writes',
  'files.keep': 'writes',
  'files.touch': 'writes',
  'files.sync': 'writes',
  'folders.set': 'writes',
  'target.begin': 'writes',
  'target.write': 'writes',
  'target.clear': 'writes',
  'target.copy': 'writes',
  'target.complete': 'writes',
};

/**
 * Counts requests as they are made, so a failed attempt counts too; one whose signal has already fired is not
 * made. The call that ends a side of a delta is not counted: it happens once in any case.
 */
export function withMeter(store: ObjectStore, meter: Meter): ObjectStore {
  meter.pricedAs(store.provider);
  const counted = wrapStore(store, (name, signal, send) => {
    if (!signal?.aborted && name !== 'deltas.target') meter.count(CLASSES[name] ?? 'reads');
    return send();
  });
  const { multipart } = counted;
  return {
    ...counted,
    async get(key, call) {
      const read = await counted.get(key, call);
      return read && { ...read, body: meterBody(read.body, meter) };
    },
    async read(key, call) {
      const read = await counted.read(key, call);
      if (read) meter.received(read.bytes.byteLength);
      return read;
    },
    put(key, bytes, put) {
      meter.sent(bytes.byteLength);
      return counted.put(key, bytes, put);
    },
    async putStream(key, body, put) {
      let streamed = 0;
      async function* metered() {
        for await (const piece of body) {
          streamed += piece.byteLength;
          meter.sent(piece.byteLength);
          yield piece;
        }
      }
      try {
        return await counted.putStream(key, metered(), put);
      } finally {
        // The first one is already counted.
        if (multipart) meter.count('writes', streamRequests(streamed, put ?? {}, multipart.partBytesMax) - 1);
      }
    },
    delete(keys, call) {
      if (!call?.signal?.aborted) meter.count('deletes', Math.ceil(keys.length / DELETED_AT_ONCE_MAX));
      return store.delete(keys, call);
    },
    ...(counted.parts && {
      parts(key, call) {
        // One for the etag, one for a page of parts.
        if (!call?.signal?.aborted) meter.count('reads');
        return counted.parts!(key, call);
      },
    }),
    ...(multipart && {
      multipart: {
        ...multipart,
        uploadPart(upload, number, bytes, put) {
          meter.sent(bytes.byteLength);
          return multipart.uploadPart(upload, number, bytes, put);
        },
      },
    }),
    ...(counted.files && { files: meterFiles(counted.files, meter) }),
  };
}

/** Digests are not content. */
function meterFiles(files: FileCalls, meter: Meter): FileCalls {
  return {
    ...files,
    entries(call) {
      if (!call.signal?.aborted) meter.count('lists');
      return files.entries(call);
    },
    write(written, call) {
      for (const { bytes } of written) meter.sent(bytes.byteLength);
      return files.write(written, call);
    },
    async read(keys, call) {
      const results = await files.read(keys, call);
      for (const result of results) if ('bytes' in result) meter.received(result.bytes.byteLength);
      return results;
    },
    deltas: {
      async source(key, signature, call) {
        const source = await files.deltas.source(key, signature, call);
        return {
          ...source,
          async read(ranges, into, wish) {
            const digests = await source.read(ranges, into, wish);
            meter.received(into.byteLength);
            return digests;
          },
        };
      },
      async target(key, wish, call) {
        meter.count(wish.isDryRun ? 'reads' : 'writes');
        const target = await files.deltas.target(key, wish, call);
        return {
          ...target,
          write(ranges, bytes, signal) {
            meter.sent(bytes.byteLength);
            return target.write(ranges, bytes, signal);
          },
        };
      },
    },
  };
}

function meterBody(body: ObjectRead['body'], meter: Meter): ObjectRead['body'] {
  return {
    destroy: () => body.destroy(),
    async *[Symbol.asyncIterator]() {
      for await (const piece of body) {
        meter.received(piece.byteLength);
        yield piece;
      }
    },
  };
}
