/**
 * An object store in this process's memory: the faithful fake for tests. It passes the same suite as the real
 * ones.
 */
import { createHash } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { comparePaths } from '../../model/entry.ts';
import { checkReadSize, resolveRange } from '../byte-range.ts';
import { noSource, ownKeyOf, sourceChanged } from '../copy-source.ts';
import { checkKey } from '../object-key.ts';
import type {
  CallOptions,
  CopyOptions,
  CopySource,
  GetOptions,
  ListedObject,
  ListPage,
  ListRequest,
  ObjectBytes,
  ObjectInfo,
  ObjectStore,
  PutOptions,
  PutOutcome,
  RemoteKey,
} from '../object-store.ts';
import { receiveChecksum } from '../received-checksum.ts';
import { createMemoryMultipart } from './memory-multipart.fixture.ts';
import {
  describedInfo,
  descriptionIn,
  type MemoryObject,
  type MemoryWrite,
} from './memory-object.fixture.ts';
import { pageOfKeys } from './sorted-page.fixture.ts';

export interface MemoryStoreOptions {
  readonly address?: string;
  /** A row of the price table; default `local`. */
  readonly provider?: string;
  readonly clock?: Clock;
  /** Minimum size of every part but the last (S3: 5 MiB). Not enforced by default. */
  readonly partSizeMinBytes?: number;
  /**
   * `counted` (default): no two writes share an etag. `md5`: like S3 without encryption, the MD5 of the
   * content, or of the parts' MD5s. `none`: the store returns none.
   */
  readonly etags?: 'counted' | 'md5' | 'none';
  /** False: the store keeps no checksums, like older servers. It still verifies what it receives. */
  readonly keepsChecksums?: boolean;
}

/** Bodies arrive in pieces, as from a network. */
const BODY_PIECE_BYTES = 256 * 1024;

/** Each store is empty and shares nothing. */
export function createMemoryStore(options: MemoryStoreOptions = {}): ObjectStore {
  const clock = options.clock ?? systemClock;
  const objects = new MemoryObjects(options, clock);
  return {
    address: options.address ?? 'memory:',
    provider: options.provider ?? 'local',
    async head(key, call) {
      const object = await objects.find(key, call?.signal ? { signal: call.signal } : {});
      if (!object) return undefined;
      const info = { ...(await objects.info(key, object, call)), remoteTimeMs: clock.nowMs() };
      if (call?.partNumber === undefined) return info;
      const { checksums: _, ...rest } = info;
      return { ...rest, ...partOf(key, object, call.partNumber) };
    },
    async get(key, call) {
      const object = await objects.find(key, call);
      if (!object) return undefined;
      const bytes = cut(key, object.bytes, call?.range);
      const info = await objects.info(key, object, call);
      return { sizeBytes: bytes.byteLength, etag: object.etag, body: bodyOf(bytes, call?.signal), info };
    },
    async read(key, call): Promise<ObjectBytes | undefined> {
      const object = await objects.find(key, call);
      if (!object) return undefined;
      const bytes = cut(key, object.bytes, call.range);
      checkReadSize(key, bytes.byteLength, call.maxBytes);
      const info = await objects.info(key, object, call);
      return { bytes: new Uint8Array(bytes), etag: object.etag, info };
    },
    async put(key, bytes, put = {}) {
      // A Buffer's own slice would be a view.
      const copy = new Uint8Array(bytes);
      await begin(key, put);
      return putWhole(objects, key, copy, put);
    },
    async putStream(key, body, put = {}) {
      await begin(key, put);
      return putWhole(objects, key, await gather(body, put.signal), put);
    },
    list: (request, call) => listPage(objects, request, call),
    async delete(keys, call) {
      checkAborted(call?.signal);
      for (const key of keys) {
        checkKey(key);
        const present = objects.get(key);
        if (present && call?.ifMatch !== undefined && call.ifMatch !== present.etag) throw sourceChanged(key);
        objects.delete(key);
      }
    },
    copy: (from, to, call) => copyObject(objects, from, to, call),
    async parts(key, call) {
      const object = await objects.find(key, call);
      if (!object?.parts) return undefined;
      const parts = object.parts.map(({ etag: _, ...part }) => part);
      return { etag: object.etag, parts };
    },
    multipart: createMemoryMultipart({
      write: (key, written) => objects.write(key, written),
      clock,
      partSizeMinBytes: options.partSizeMinBytes ?? 0,
      md5Etags: options.etags === 'md5',
      find: (key) => objects.get(key),
    }),
    close: async () => {},
  };
}

/** Every check-and-write is one synchronous step, so conditions hold by construction. */
class MemoryObjects {
  readonly #options: MemoryStoreOptions;
  readonly #clock: Clock;
  readonly #objects = new Map<RemoteKey, MemoryObject>();
  #sortedKeys: readonly RemoteKey[] | undefined;
  #writes = 0;

  constructor(options: MemoryStoreOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  get(key: RemoteKey): MemoryObject | undefined {
    return this.#objects.get(key);
  }

  async find(key: RemoteKey, call: GetOptions = {}): Promise<MemoryObject | undefined> {
    await begin(key, call);
    const object = this.#objects.get(key);
    if (object && call.ifMatch !== undefined && call.ifMatch !== object.etag) throw sourceChanged(key);
    return object;
  }

  info(key: RemoteKey, object: MemoryObject, call: GetOptions = {}): Promise<ObjectInfo> {
    const keepsChecksums = this.#options.keepsChecksums ?? true;
    return describedInfo(key, object, {
      checksums: keepsChecksums && call.checksums === true && !call.range,
    });
  }

  write(key: RemoteKey, { bytes, options: { condition }, object }: MemoryWrite): PutOutcome {
    const present = this.#objects.get(key);
    if (condition && 'absent' in condition && present) return { written: false };
    if (condition && 'etag' in condition && present?.etag !== condition.etag) return { written: false };
    const etag = this.#etagFor(bytes, object.parts);
    if (!present) this.#sortedKeys = undefined;
    this.#objects.set(key, { ...object, bytes, etag, modifiedMs: this.#clock.nowMs() });
    return { written: true, etag };
  }

  delete(key: RemoteKey): void {
    if (this.#objects.delete(key)) this.#sortedKeys = undefined;
  }

  sortedKeys(): readonly RemoteKey[] {
    this.#sortedKeys ??= [...this.#objects.keys()].sort(comparePaths);
    return this.#sortedKeys;
  }

  #etagFor(bytes: Uint8Array, parts: MemoryObject['parts']): string {
    this.#writes += 1;
    if (this.#options.etags === 'none') return '';
    return this.#options.etags === 'md5' ? md5EtagOf(bytes, parts) : `m${this.#writes}`;
  }
}

async function putWhole(
  objects: MemoryObjects,
  key: RemoteKey,
  bytes: Uint8Array,
  put: PutOptions,
): Promise<PutOutcome> {
  const received = await receiveChecksum(put.checksum);
  received.update(bytes);
  const checksums = received.verify(key);
  const object = {
    description: descriptionIn(put),
    ...(put.checksum ? { checksum: put.checksum } : {}),
  };
  checkAborted(put.signal);
  const outcome = objects.write(key, { bytes, options: put, object });
  return outcome.written && checksums ? { ...outcome, checksums } : outcome;
}

async function gather(body: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    checkAborted(signal);
    pieces.push(new Uint8Array(piece));
  }
  return new Uint8Array(Buffer.concat(pieces));
}

async function listPage(
  objects: MemoryObjects,
  request: ListRequest,
  call: CallOptions = {},
): Promise<ListPage> {
  checkAborted(call.signal);
  const { keys, folders, continuation } = pageOfKeys(objects.sortedKeys(), request);
  const listed = keys.map((key) => listedObject(key, objects.get(key)!));
  return { objects: listed, folders, ...(continuation === undefined ? {} : { continuation }) };
}

async function copyObject(
  objects: MemoryObjects,
  from: CopySource,
  to: RemoteKey,
  call: CopyOptions = {},
): Promise<PutOutcome> {
  const key = ownKeyOf(from);
  checkKey(to);
  const source = await objects.find(key, {
    ...(call.ifMatch === undefined ? {} : { ifMatch: call.ifMatch }),
    ...(call.signal ? { signal: call.signal } : {}),
  });
  if (!source) throw noSource(key);
  if (key === to && !call.description && !call.storageClass) throw ontoItself(key);
  const { storageClass: _, ...kept } = source.description;
  const described = call.description ? descriptionIn(call.description) : kept;
  const description = {
    ...described,
    ...(call.storageClass === undefined ? {} : { storageClass: call.storageClass }),
  };
  // As on S3: a copy in one request is not a multipart object, and keeps the kind of checksum.
  const object = { description, ...(source.checksum ? { checksum: source.checksum } : {}) };
  return objects.write(to, { bytes: source.bytes, options: call, object });
}

async function begin(key: RemoteKey, call: CallOptions): Promise<void> {
  checkAborted(call.signal);
  checkKey(key);
  // Makes racing callers interleave: no call answers in the same tick.
  await Promise.resolve();
}

function md5EtagOf(bytes: Uint8Array, parts: MemoryObject['parts']): string {
  const hash = createHash('md5');
  if (!parts) return hash.update(bytes).digest('hex');
  for (const part of parts) hash.update(Buffer.from(part.etag, 'hex'));
  return `${hash.digest('hex')}-${parts.length}`;
}

function listedObject(key: RemoteKey, { bytes, etag, modifiedMs, description }: MemoryObject): ListedObject {
  const storageClass = description.storageClass ?? 'STANDARD';
  return { key, sizeBytes: bytes.byteLength, etag, modifiedMs, storageClass };
}

/** A whole object is its only part. */
function partOf(key: RemoteKey, { bytes, parts }: MemoryObject, number: number) {
  const found = parts ? parts[number - 1] : { sizeBytes: bytes.byteLength };
  if (found && (parts || number === 1)) {
    return { sizeBytes: found.sizeBytes, ...(parts ? { partCount: parts.length } : {}) };
  }
  throw new DrayError('damaged', `${key} has no part ${number}.`, { data: { key, part: number } });
}

function ontoItself(key: RemoteKey): DrayError {
  return new DrayError('usage', `A copy of ${key} onto itself must change its description.`, {
    data: { key },
  });
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
