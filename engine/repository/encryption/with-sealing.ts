/**
 * A store whose content and names are sealed with a repository's keys. Its callers see plain keys and plain
 * content. `dray.json` and the slots below `keys/` stay plain.
 *
 * What differs from other stores, and why:
 * - Listings are in the order of the stored keys, and `prefix` and `startAfter` of a listing inside of
 *   `objects/` and the like are stored keys. A listed size is that of the padded content (`sealing` tells).
 * - `head` reads the sealed size by a ranged GET.
 * - A range that begins behind the first frame is cut where the padding ends, not where the content does.
 * - Checksums that a caller gives are those of plain content; the store gets the CRC-32 of the sealed bytes.
 * - No multipart calls and no copies inside the store: nothing in an encrypted repository is so large.
 */
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { checkReadSize } from '../../remotes/byte-range.ts';
import type {
  GetOptions,
  ObjectBytes,
  ObjectInfo,
  ObjectRead,
  ObjectStore,
  PutOptions,
  PutOutcome,
  PutStreamOptions,
  ReadOptions,
  RemoteKey,
  UnopenedObject,
} from '../../remotes/object-store.ts';
import {
  type Authentic,
  checkStoredSize,
  createSealer,
  openFrame,
  openHead,
} from '../../sealing/sealed-content.ts';
import {
  FRAME_BYTES,
  FRAME_EXTRA_BYTES,
  frameCount,
  framesAround,
  HEAD_BYTES,
  paddedBytes,
  paddedOf,
  readBytesMax,
  sealedBytesOf,
} from '../../sealing/sealed-form.ts';
import { DESCRIPTOR_KEY, KEY_SLOTS_PREFIX } from '../keys.ts';
import { objectCipherKey, type SealKeys } from './seal-keys.ts';
import { createSealThreads, type SealThreads } from './seal-threads.ts';
import { createSealedNames } from './sealed-names.ts';

export function withSealing(store: ObjectStore, keys: SealKeys): ObjectStore {
  const names = createSealedNames(keys.names);
  const threads = createSealThreads();
  const { confirmsWrites, files } = store;
  const on = (key: RemoteKey): Sealed => {
    const storedKey = names.storedKey(key);
    return { store, threads, key, storedKey, cipherKey: objectCipherKey(keys, storedKey) };
  };
  return {
    address: store.address,
    provider: store.provider,
    ...(confirmsWrites && { confirmsWrites }),
    ...(files && { files }),
    sealing: {
      ...names,
      listedBytes: paddedBytes,
      readBytesMax,
      readUnopened: (key, call) => readUnopened(on(key), call),
      cutterKey: keys.cutter,
    },
    head: (key, call) =>
      isPlain(key) ? store.head(key, call) : naming(on(key), (sealed) => headSealed(sealed, call?.signal)),
    get: (key, call) =>
      isPlain(key) ? store.get(key, call) : naming(on(key), (sealed) => getSealed(sealed, call)),
    read: (key, call) =>
      isPlain(key) ? store.read(key, call) : naming(on(key), (sealed) => readSealed(sealed, call)),
    async put(key, bytes, put = {}) {
      if (isPlain(key)) return store.put(key, bytes, put);
      return putSealed(on(key), bytes, put);
    },
    async putStream(key, body, put = {}) {
      if (isPlain(key)) return store.putStream(key, body, put);
      return putSealedStream(on(key), body, put);
    },
    async list(request, call) {
      const page = await store.list(request, call);
      const objects = page.objects.map((object) =>
        isPlain(object.key)
          ? object
          : {
              ...object,
              key: names.plainKey(object.key),
              sizeBytes: paddedOf(object.sizeBytes) ?? object.sizeBytes,
            },
      );
      return { ...page, objects };
    },
    delete: (list, call) =>
      store.delete(
        list.map((key) => names.storedKey(key)),
        call,
      ),
    async copy(_from, _to, call) {
      checkAborted(call?.signal);
      throw noCopies(store);
    },
    async close() {
      await threads.close();
      await store.close();
    },
  };
}

/** One object: its key for people, its key on the store, and the key of its content. */
interface Sealed extends Authentic {
  readonly store: ObjectStore;
  readonly threads: SealThreads;
  readonly storedKey: RemoteKey;
}

/** A failure names the key on the store as well: that is where the owner finds the object. */
async function naming<T>(sealed: Sealed, work: (sealed: Sealed) => Promise<T>): Promise<T> {
  try {
    return await work(sealed);
  } catch (error) {
    const { key, storedKey } = sealed;
    if (!(error instanceof DrayError) || error.data.reason !== 'unauthentic' || key === storedKey)
      throw error;
    const message = error.message.replace(key, `${key} (stored as ${storedKey})`);
    throw new DrayError(error.code, message, { data: error.data, cause: error });
  }
}

function isPlain(key: RemoteKey): boolean {
  return key === DESCRIPTOR_KEY || key.startsWith(KEY_SLOTS_PREFIX);
}

async function headSealed(sealed: Sealed, signal: AbortSignal | undefined): Promise<ObjectInfo | undefined> {
  const { key, store, storedKey } = sealed;
  const range = { start: 0, end: HEAD_BYTES };
  const read = await store.read(storedKey, { range, maxBytes: HEAD_BYTES, ...(signal && { signal }) });
  if (!read) return undefined;
  const { sizeBytes } = openHead(sealed, read.bytes);
  checkStoredSize(key, sizeBytes, read.info.sizeBytes);
  return plainInfo(read.info, key, sizeBytes);
}

async function putSealed(
  { cipherKey, store, storedKey, threads }: Sealed,
  bytes: Uint8Array,
  put: PutOptions,
): Promise<PutOutcome> {
  using sealed = await threads.seal(cipherKey, bytes, put.signal);
  const checksum = { crc32: sealed.sum };
  return withoutChecksums(await store.put(storedKey, sealed.bytes, { ...put, checksum }));
}

async function readSealed(
  { cipherKey, key, store, storedKey, threads }: Sealed,
  { checksums: _, into, maxBytes, memory: __, range, ...call }: ReadOptions,
): Promise<ObjectBytes | undefined> {
  const around = range && framesAround(range).stored;
  const storedMax = around ? around.end - around.start : sealedBytesOf(paddedBytes(maxBytes));
  const read = await store.read(storedKey, {
    ...call,
    ...(around && { range: around }),
    maxBytes: storedMax,
    ...(into && into.length >= storedMax && { into }),
  });
  if (!read) return undefined;
  const { bytes: stored, etag, info } = read;
  const task = {
    object: { cipherKey, key },
    stored,
    ...(range && { range: { ...range, objectBytes: info.sizeBytes } }),
  };
  const { content, sizeBytes } = await threads.open(task, stored.buffer === into?.buffer, into);
  checkReadSize(key, content.length, maxBytes);
  return { bytes: content, etag, info: plainInfo(info, key, sizeBytes) };
}

async function readUnopened(
  { cipherKey, key, store, storedKey }: Sealed,
  { checksums: _, maxBytes, memory: __, ...call }: Omit<ReadOptions, 'range'>,
): Promise<UnopenedObject | undefined> {
  const read = await store.read(storedKey, { ...call, maxBytes: sealedBytesOf(paddedBytes(maxBytes)) });
  if (!read) return undefined;
  const object = { cipherKey, key };
  const { sizeBytes } = openHead(object, read.bytes);
  checkStoredSize(key, sizeBytes, read.bytes.length);
  checkReadSize(key, sizeBytes, maxBytes);
  return { stored: read.bytes, object, sizeBytes };
}

async function getSealed(sealed: Sealed, call: GetOptions = {}): Promise<ObjectRead | undefined> {
  const { key, store, storedKey } = sealed;
  const { range, memory: _, checksums: __, ...rest } = call;
  if (range) {
    const read = await readSealed(sealed, { ...rest, range, maxBytes: range.end - range.start });
    return read && { ...read, sizeBytes: read.bytes.byteLength, body: bodyOf([read.bytes]) };
  }
  const read = await store.get(storedKey, rest);
  if (!read) return undefined;
  const stored = createPieces(read.body);
  try {
    const { nonce, sizeBytes } = openHead(sealed, await stored.take(HEAD_BYTES));
    checkStoredSize(key, sizeBytes, read.info.sizeBytes);
    const opened = async function* () {
      let isRead = false;
      try {
        const padded = paddedBytes(sizeBytes);
        for (let frame = 0; frame < frameCount(padded); frame += 1) {
          const start = frame * FRAME_BYTES;
          const part = await stored.take(Math.min(FRAME_BYTES, padded - start) + FRAME_EXTRA_BYTES);
          const content = openFrame(sealed, { frame, stored: part, nonce });
          if (start < sizeBytes) yield content.subarray(0, sizeBytes - start);
        }
        // The store learns only now that its body was read to the end.
        isRead = (await stored.take(1)).length === 0;
      } finally {
        if (!isRead) read.body.destroy();
      }
    };
    const body = { destroy: () => read.body.destroy(), [Symbol.asyncIterator]: opened };
    return { sizeBytes, etag: read.etag, body, info: plainInfo(read.info, key, sizeBytes) };
  } catch (error) {
    read.body.destroy();
    throw error;
  }
}

function bodyOf(pieces: readonly Uint8Array[]): ObjectRead['body'] {
  return {
    destroy() {},
    async *[Symbol.asyncIterator]() {
      yield* pieces;
    },
  };
}

/** Cuts a stream into pieces of wanted lengths; the last one may be shorter. */
function createPieces(stream: AsyncIterable<Uint8Array>, signal?: AbortSignal) {
  const pieces = stream[Symbol.asyncIterator]();
  let held: Buffer[] = [];
  let heldBytes = 0;
  return {
    async take(bytes: number): Promise<Uint8Array> {
      while (heldBytes < bytes) {
        checkAborted(signal);
        const next = await pieces.next();
        if (next.done) break;
        // The store may use the memory of a piece again.
        held.push(Buffer.from(next.value));
        heldBytes += next.value.length;
      }
      const all = Buffer.concat(held);
      const taken = all.subarray(0, bytes);
      held = [all.subarray(taken.length)];
      heldBytes = all.length - taken.length;
      return taken;
    },
    /** Lets the stream clean up, if it was not read to its end. */
    async end(): Promise<void> {
      await pieces.return?.();
    },
  };
}

async function putSealedStream(
  sealed: Sealed,
  body: AsyncIterable<Uint8Array>,
  put: PutStreamOptions = {},
): Promise<PutOutcome> {
  const { cipherKey, store, storedKey } = sealed;
  const { checksum: _, partSizeBytes: __, sizeBytes: known, ...options } = put;
  const content = createPieces(body, put.signal);
  if (known === undefined) {
    const gathered = await content.take(GATHERED_BYTES_MAX + 1).finally(() => content.end());
    if (gathered.length > GATHERED_BYTES_MAX) throw tooLargeStream(store);
    return putSealed(sealed, gathered, options);
  }
  const padded = paddedBytes(known);
  const sealer = createSealer(cipherKey, known);
  const pieces = async function* () {
    yield sealer.head();
    for (let frame = 0; frame < frameCount(padded); frame += 1) {
      const start = frame * FRAME_BYTES;
      const bytes = Math.min(FRAME_BYTES, padded - start);
      const part = await content.take(Math.max(0, Math.min(bytes, known - start)));
      if (part.length !== Math.max(0, Math.min(bytes, known - start))) throw shortStream(storedKey);
      const filled = part.length === bytes ? part : Buffer.concat([part, Buffer.alloc(bytes - part.length)]);
      const stored = Buffer.allocUnsafe(bytes + FRAME_EXTRA_BYTES);
      sealer.frame(frame, filled, stored);
      yield stored;
    }
  };
  try {
    const stream = { ...options, sizeBytes: sealedBytesOf(padded) };
    return withoutChecksums(await store.putStream(storedKey, pieces(), stream));
  } finally {
    await content.end();
  }
}

/** A stream of unknown size is gathered. Nothing that a repository stores is larger. */
const GATHERED_BYTES_MAX = 1024 * 1024 * 1024;

function tooLargeStream(store: ObjectStore): DrayError {
  return new DrayError('unsupported', `${store.address} is encrypted and takes no such large stream.`);
}

function shortStream(key: RemoteKey): DrayError {
  return new DrayError('internal', `The content of ${key} ended before its size.`);
}

function noCopies(store: ObjectStore): DrayError {
  return new DrayError(
    'unsupported',
    `${store.address} is encrypted: its objects cannot be copied inside it.`,
  );
}

function plainInfo(info: ObjectInfo, key: RemoteKey, sizeBytes: number): ObjectInfo {
  const { checksums: _, partCount: __, ...rest } = info;
  return { ...rest, key, sizeBytes, etagIsOpaque: true };
}

/** Those of the sealed bytes say nothing to the caller. */
function withoutChecksums(outcome: PutOutcome): PutOutcome {
  return outcome.written ? { written: true, etag: outcome.etag } : outcome;
}
