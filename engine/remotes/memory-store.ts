/** An object store in this process's memory: the faithful fake for tests. It passes the same suite as the real ones. */
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { comparePaths } from '../model/entry.ts';
import { checkReadSize, resolveRange } from './byte-range.ts';
import { createMemoryMultipart } from './memory-multipart.ts';
import { checkKey } from './object-key.ts';
import type {
  CallOptions,
  GetOptions,
  ObjectBytes,
  ObjectInfo,
  ObjectStore,
  PutOptions,
  PutOutcome,
  RemoteKey,
} from './object-store.ts';
import { receiveChecksum } from './received-checksum.ts';
import { pageOfKeys } from './sorted-page.ts';

export interface MemoryStoreOptions {
  readonly address?: string;
  /** A row of the price table; `local` by default. */
  readonly provider?: string;
  readonly clock?: Clock;
  /** Parts other than the last must be as large (S3: 5 MiB). Not enforced by default. */
  readonly partSizeMinBytes?: number;
}

export interface MemoryObject {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly modifiedMs: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Bodies come in pieces, as from a network. */
const BODY_PIECE_BYTES = 256 * 1024;

/** Each store is empty and shares nothing. Every check-and-write is one synchronous step, so conditions hold by construction. */
export function createMemoryStore(options: MemoryStoreOptions = {}): ObjectStore {
  const clock = options.clock ?? systemClock;
  const objects = new Map<RemoteKey, MemoryObject>();
  let sortedKeys: readonly RemoteKey[] | undefined;
  let writes = 0;

  const write = (key: RemoteKey, bytes: Uint8Array, put: PutOptions): PutOutcome => {
    const present = objects.get(key);
    const { condition } = put;
    if (condition && 'absent' in condition && present) return { written: false };
    if (condition && 'etag' in condition && present?.etag !== condition.etag) return { written: false };
    writes += 1;
    const etag = `m${writes}`;
    if (!present) sortedKeys = undefined;
    const metadata = put.metadata && { metadata: put.metadata };
    objects.set(key, { bytes, etag, modifiedMs: clock.nowMs(), ...metadata });
    return { written: true, etag };
  };

  const find = async (key: RemoteKey, call: GetOptions = {}): Promise<MemoryObject | undefined> => {
    await begin(key, call);
    const object = objects.get(key);
    if (object && call.ifMatch !== undefined && call.ifMatch !== object.etag) {
      throw new DrayError('conflict', `${key} was replaced meanwhile.`, { data: { key } });
    }
    return object;
  };

  const read: ObjectStore['read'] = async (key, call): Promise<ObjectBytes | undefined> => {
    const object = await find(key, call);
    if (!object) return undefined;
    const bytes = cut(key, object.bytes, call.range);
    checkReadSize(key, bytes.byteLength, call.maxBytes);
    return { bytes: bytes.slice(), etag: object.etag };
  };

  return {
    address: options.address ?? 'memory:',
    provider: options.provider ?? 'local',
    async head(key, call): Promise<ObjectInfo | undefined> {
      const object = await find(key, call);
      if (!object) return undefined;
      const { bytes, ...info } = object;
      return { key, sizeBytes: bytes.byteLength, ...info, remoteTimeMs: clock.nowMs() };
    },
    async get(key, call) {
      const object = await find(key, call);
      if (!object) return undefined;
      const bytes = cut(key, object.bytes, call?.range);
      return { sizeBytes: bytes.byteLength, etag: object.etag, body: bodyOf(bytes, call?.signal) };
    },
    read,
    async put(key, bytes, put = {}) {
      const copy = bytes.slice();
      await begin(key, put);
      const checksum = receiveChecksum(put.checksum);
      checksum.update(copy);
      checksum.verify(key);
      return write(key, copy, put);
    },
    async putStream(key, body, put = {}) {
      await begin(key, put);
      const checksum = receiveChecksum(put.checksum);
      const pieces: Uint8Array[] = [];
      for await (const piece of body) {
        checkAborted(put.signal);
        checksum.update(piece);
        pieces.push(piece.slice());
      }
      checkAborted(put.signal);
      checksum.verify(key);
      return write(key, new Uint8Array(Buffer.concat(pieces)), put);
    },
    async list(request, call) {
      checkAborted(call?.signal);
      sortedKeys ??= [...objects.keys()].sort(comparePaths);
      const page = pageOfKeys(sortedKeys, request);
      const listed = page.keys.map((key) => {
        const { bytes, etag, modifiedMs } = objects.get(key)!;
        return { key, sizeBytes: bytes.byteLength, etag, modifiedMs };
      });
      const { continuation } = page;
      return {
        objects: listed,
        folders: page.folders,
        ...(continuation === undefined ? {} : { continuation }),
      };
    },
    async delete(keys, call) {
      checkAborted(call?.signal);
      for (const key of keys) {
        checkKey(key);
        if (objects.delete(key)) sortedKeys = undefined;
      }
    },
    async copy(from, to, call) {
      checkKey(to);
      const object = await find(from, call);
      if (!object) throw new DrayError('notFound', `There is no ${from} to copy.`, { data: { key: from } });
      const { metadata } = object;
      return write(to, object.bytes, metadata ? { metadata } : {});
    },
    multipart: createMemoryMultipart({
      write,
      partSizeMinBytes: options.partSizeMinBytes ?? 0,
      find: (key) => objects.get(key)?.bytes,
    }),
    close: async () => {},
  };
}

async function begin(key: RemoteKey, call: CallOptions): Promise<void> {
  checkAborted(call.signal);
  checkKey(key);
  // Callers that race really interleave: nobody gets an answer in the same turn.
  await Promise.resolve();
}

function cut(key: RemoteKey, bytes: Uint8Array, range: GetOptions['range']): Uint8Array {
  const { start, end } = resolveRange(key, bytes.byteLength, range);
  return bytes.subarray(start, end);
}

function bodyOf(bytes: Uint8Array, signal: AbortSignal | undefined) {
  let destroyed = false;
  return {
    destroy() {
      destroyed = true;
    },
    async *[Symbol.asyncIterator]() {
      for (let at = 0; at < bytes.byteLength; at += BODY_PIECE_BYTES) {
        checkAborted(signal);
        if (destroyed) throw new DrayError('aborted', 'The body was dropped.');
        yield bytes.slice(at, at + BODY_PIECE_BYTES);
      }
    },
  };
}
