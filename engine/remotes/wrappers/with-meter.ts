/** Counts a store's requests, by class of the price list, and bytes. It wraps below the retry wrapper. */
import type { RequestTotals } from '../../api/jobs.ts';
import { dollarsFor, type RequestCounts } from '../../model/prices.ts';
import type { DeltaFace, FileFace } from '../file-face.ts';
import { traitsOf } from '../multipart-traits.ts';
import type { MultipartStore, ObjectRead, ObjectStore } from '../object-store.ts';
import { streamRequests } from '../stream-part-size.ts';

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

/**
 * Counts requests as they are made, so a failed attempt counts too; one whose signal has already fired is not
 * made.
 */
export function withMeter(store: ObjectStore, meter: Meter): ObjectStore {
  const count = (requestClass: RequestClass, signal: AbortSignal | undefined): void => {
    if (!signal?.aborted) meter.count(requestClass);
  };
  meter.pricedAs(store.provider);
  const { multipart } = store;
  return {
    address: store.address,
    provider: store.provider,
    ...(store.confirmsWrites ? { confirmsWrites: true } : {}),
    ...(store.place ? { place: store.place } : {}),
    head(key, call) {
      count('reads', call?.signal);
      return store.head(key, call);
    },
    async get(key, call) {
      count('reads', call?.signal);
      const read = await store.get(key, call);
      return read && { ...read, body: meterBody(read.body, meter) };
    },
    async read(key, call) {
      count('reads', call.signal);
      const read = await store.read(key, call);
      if (read) meter.received(read.bytes.byteLength);
      return read;
    },
    put(key, bytes, put) {
      count('writes', put?.signal);
      meter.sent(bytes.byteLength);
      return store.put(key, bytes, put);
    },
    async putStream(key, body, put) {
      count('writes', put?.signal);
      let streamed = 0;
      async function* metered() {
        for await (const piece of body) {
          streamed += piece.byteLength;
          meter.sent(piece.byteLength);
          yield piece;
        }
      }
      try {
        return await store.putStream(key, metered(), put);
      } finally {
        // The first one is already counted.
        if (multipart) meter.count('writes', streamRequests(streamed, put ?? {}, multipart.partBytesMax) - 1);
      }
    },
    list(request, call) {
      count('lists', call?.signal);
      return store.list(request, call);
    },
    delete(keys, call) {
      if (!call?.signal?.aborted) meter.count('deletes', Math.ceil(keys.length / DELETED_AT_ONCE_MAX));
      return store.delete(keys, call);
    },
    copy(from, to, call) {
      count('writes', call?.signal);
      return store.copy(from, to, call);
    },
    ...(store.parts && {
      parts(key, call) {
        // One for the etag, one for a page of parts.
        count('reads', call?.signal);
        count('reads', call?.signal);
        return store.parts!(key, call);
      },
    }),
    ...(multipart ? { multipart: meterMultipart(multipart, meter, count) } : {}),
    ...(store.files ? { files: meterFiles(store.files, meter, count) } : {}),
    close: () => store.close(),
  };
}

function meterFiles(
  files: FileFace,
  meter: Meter,
  count: (requestClass: RequestClass, signal: AbortSignal | undefined) => void,
): FileFace {
  return {
    machine: files.machine,
    pathOf: (key) => files.pathOf(key),
    isReadOnly(call) {
      count('reads', call.signal);
      return files.isReadOnly(call);
    },
    filesMax: files.filesMax,
    bytesMax: files.bytesMax,
    entries(call) {
      count('lists', call.signal);
      return files.entries(call);
    },
    write(written, call) {
      count('writes', call.signal);
      for (const { bytes } of written) meter.sent(bytes.byteLength);
      return files.write(written, call);
    },
    async read(keys, call) {
      count('reads', call.signal);
      const results = await files.read(keys, call);
      for (const result of results) if ('bytes' in result) meter.received(result.bytes.byteLength);
      return results;
    },
    keep(file, call) {
      count('writes', call.signal);
      return files.keep(file, call);
    },
    touch(key, to, call) {
      count('writes', call.signal);
      return files.touch(key, to, call);
    },
    sync(call) {
      count('writes', call.signal);
      return files.sync(call);
    },
    folders: {
      isRootTheirs: files.folders.isRootTheirs,
      read(keys, call) {
        count('reads', call.signal);
        return files.folders.read(keys, call);
      },
      set(folders, call) {
        count('writes', call.signal);
        return files.folders.set(folders, call);
      },
    },
    deltas: meterDeltas(files.deltas, meter),
  };
}

/** Digests are not content. The call that ends a side is not counted: it happens once in any case. */
function meterDeltas(deltas: DeltaFace, meter: Meter): DeltaFace {
  const counted = async <T>(requestClass: RequestClass, work: () => Promise<T>): Promise<T> => {
    meter.count(requestClass);
    return work();
  };
  return {
    async source(key, signature, call) {
      const source = await counted('reads', () => deltas.source(key, signature, call));
      return {
        ...source,
        sign: (start, end, signal) => counted('reads', () => source.sign(start, end, signal)),
        cut: (signal) => counted('reads', () => source.cut(signal)),
        async read(ranges, into, wish) {
          const digests = await counted('reads', () => source.read(ranges, into, wish));
          meter.received(into.byteLength);
          return digests;
        },
        checkUnchanged: () => counted('reads', () => source.checkUnchanged()),
      };
    },
    async target(key, wish, call) {
      const target = await counted(wish.isDryRun ? 'reads' : 'writes', () => deltas.target(key, wish, call));
      return {
        ...target,
        sign: (start, end, signal) => counted('reads', () => target.sign(start, end, signal)),
        cut: (signal) => counted('reads', () => target.cut(signal)),
        begin: (begin) => counted('writes', () => target.begin(begin)),
        write(ranges, bytes, signal) {
          meter.sent(bytes.byteLength);
          return counted('writes', () => target.write(ranges, bytes, signal));
        },
        clear: (ranges, signal) => counted('writes', () => target.clear(ranges, signal)),
        copy: (moves, signal) => counted('writes', () => target.copy(moves, signal)),
        complete: () => counted('writes', () => target.complete()),
      };
    },
  };
}

function meterMultipart(
  multipart: MultipartStore,
  meter: Meter,
  count: (requestClass: RequestClass, signal: AbortSignal | undefined) => void,
): MultipartStore {
  return {
    ...traitsOf(multipart),
    create(key, call) {
      count('writes', call?.signal);
      return multipart.create(key, call);
    },
    uploadPart(upload, number, bytes, put) {
      count('writes', put?.signal);
      meter.sent(bytes.byteLength);
      return multipart.uploadPart(upload, number, bytes, put);
    },
    uploadPartCopy(upload, number, source, call) {
      count('writes', call?.signal);
      return multipart.uploadPartCopy(upload, number, source, call);
    },
    listParts(upload, call) {
      count('lists', call?.signal);
      return multipart.listParts(upload, call);
    },
    complete(upload, parts, put) {
      count('writes', put?.signal);
      return multipart.complete(upload, parts, put);
    },
    abort(upload, call) {
      count('deletes', call?.signal);
      return multipart.abort(upload, call);
    },
    listUploads(request, call) {
      count('lists', call?.signal);
      return multipart.listUploads(request, call);
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
