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
import { crc32 } from 'node:zlib';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { checkReadSize } from '../../remotes/byte-range.ts';
import type {
  ByteRange,
  ObjectBytes,
  ObjectInfo,
  ObjectRead,
  ObjectStore,
  PutOutcome,
  ReadOptions,
  RemoteKey,
} from '../../remotes/object-store.ts';
import { DESCRIPTOR_KEY, KEY_SLOTS_PREFIX } from '../keys.ts';
import { objectCipherKey, type SealKeys } from './seal-keys.ts';
import { createSealer, openBytes, openFrame, openHead, sealBytes } from './sealed-content.ts';
import {
  FRAME_BYTES,
  FRAME_EXTRA_BYTES,
  frameCount,
  frameStart,
  HEAD_BYTES,
  paddedBytes,
  paddedOf,
  sealedBytesOf,
} from './sealed-form.ts';
import { createSealedNames } from './sealed-names.ts';

export function withSealing(store: ObjectStore, keys: SealKeys): ObjectStore {
  const names = createSealedNames(keys.names);
  const { confirmsWrites, files } = store;
  const on = (key: RemoteKey): Sealed => {
    const storedKey = names.storedKey(key);
    return { store, key, storedKey, cipherKey: objectCipherKey(keys, storedKey) };
  };
  return {
    address: store.address,
    provider: store.provider,
    ...(confirmsWrites && { confirmsWrites }),
    ...(files && { files }),
    sealing: { ...names, listedBytes: paddedBytes, cutterKey: keys.cutter },
    head: (key, call) => (isPlain(key) ? store.head(key, call) : headSealed(on(key), call?.signal)),
    get: (key, call) => (isPlain(key) ? store.get(key, call) : getSealed(on(key), call)),
    read: (key, call) => (isPlain(key) ? store.read(key, call) : readSealed(on(key), call)),
    async put(key, bytes, put = {}) {
      if (isPlain(key)) return store.put(key, bytes, put);
      const { cipherKey, storedKey } = on(key);
      const sealed = sealBytes(cipherKey, bytes);
      const outcome = await store.put(storedKey, sealed, { ...put, checksum: { crc32: crc32(sealed) } });
      return withoutChecksums(outcome);
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
    close: () => store.close(),
  };
}

/** One object: its key for people, its key on the store, and the key of its content. */
interface Sealed {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  readonly storedKey: RemoteKey;
  readonly cipherKey: Uint8Array;
}

function isPlain(key: RemoteKey): boolean {
  return key === DESCRIPTOR_KEY || key.startsWith(KEY_SLOTS_PREFIX);
}

async function headSealed(
  { cipherKey, key, store, storedKey }: Sealed,
  signal: AbortSignal | undefined,
): Promise<ObjectInfo | undefined> {
  const range = { start: 0, end: HEAD_BYTES };
  const read = await store.read(storedKey, { range, maxBytes: HEAD_BYTES, ...(signal && { signal }) });
  if (!read) return undefined;
  const { sizeBytes } = openHead(cipherKey, key, read.bytes);
  checkStoredSize(key, sizeBytes, read.info.sizeBytes);
  return plainInfo(read.info, key, sizeBytes);
}

/** A cut end is found without reading it. */
function checkStoredSize(key: RemoteKey, sizeBytes: number, storedBytes: number): void {
  if (storedBytes === sealedBytesOf(paddedBytes(sizeBytes))) return;
  const message = `${key} is truncated: ${storedBytes} bytes are stored of the ${sealedBytesOf(paddedBytes(sizeBytes))} that were written.`;
  throw new DrayError('damaged', message, { data: { key, reason: 'unauthentic' } });
}

async function readSealed(sealed: Sealed, call: ReadOptions): Promise<ObjectBytes | undefined> {
  const { cipherKey, key, store, storedKey } = sealed;
  const { into, maxBytes, range, checksums: _, memory: __, ...rest } = call;
  if (range) return readRange(sealed, range, call);
  const read = await store.read(storedKey, { ...rest, maxBytes: sealedBytesOf(paddedBytes(maxBytes)) });
  if (!read) return undefined;
  const bytes = openBytes(cipherKey, key, read.bytes, into);
  checkReadSize(key, bytes.byteLength, maxBytes);
  return { bytes, etag: read.etag, info: plainInfo(read.info, key, bytes.byteLength) };
}

async function readRange(
  { cipherKey, key, store, storedKey }: Sealed,
  { start, end }: ByteRange,
  { into, ...call }: ReadOptions,
): Promise<ObjectBytes | undefined> {
  const first = Math.floor(start / FRAME_BYTES);
  const last = frameCount(end) - 1;
  const from = first === 0 ? 0 : frameStart(first);
  const stored = { start: from, end: frameStart(last + 1) };
  const { signal, ifMatch } = call;
  const options = { ...(signal && { signal }), ...(ifMatch !== undefined && { ifMatch }) };
  const read = await store.read(storedKey, {
    ...options,
    range: stored,
    maxBytes: stored.end - stored.start,
  });
  if (!read) return undefined;
  const head = first === 0 ? openHead(cipherKey, key, read.bytes) : undefined;
  if (head) checkStoredSize(key, head.sizeBytes, read.info.sizeBytes);
  const sizeBytes = head?.sizeBytes ?? paddedOf(read.info.sizeBytes);
  if (sizeBytes === undefined) throw new DrayError('damaged', `${key} is truncated.`, { data: { key } });
  if (start >= sizeBytes) {
    throw new DrayError('damaged', `${key} has ${sizeBytes} bytes; none from ${start} on.`, {
      data: { key },
    });
  }
  const wanted = Math.min(end, sizeBytes) - start;
  checkReadSize(key, wanted, call.maxBytes);
  const bytes = into && into.length >= wanted ? into.subarray(0, wanted) : new Uint8Array(wanted);
  let nonce = head?.nonce;
  for (let frame = first; frame <= last && frame * FRAME_BYTES < sizeBytes; frame += 1) {
    const at = frameStart(frame) - from;
    const part = read.bytes.subarray(at, at + FRAME_BYTES + FRAME_EXTRA_BYTES);
    const opened = openFrame(cipherKey, key, frame, part, nonce);
    nonce ??= part.slice(0, FRAME_EXTRA_BYTES - 16);
    const offset = frame * FRAME_BYTES;
    const [cutStart, cutEnd] = [
      Math.max(0, start - offset),
      Math.min(opened.length, start + wanted - offset),
    ];
    bytes.set(opened.subarray(cutStart, cutEnd), offset + cutStart - start);
  }
  return { bytes, etag: read.etag, info: plainInfo(read.info, key, sizeBytes) };
}

async function getSealed(
  { cipherKey, key, store, storedKey }: Sealed,
  call: Parameters<ObjectStore['get']>[1] = {},
): Promise<ObjectRead | undefined> {
  const { range, memory: _, checksums: __, ...rest } = call;
  if (range) {
    const read = await readSealed(
      { cipherKey, key, store, storedKey },
      { ...rest, range, maxBytes: range.end - range.start },
    );
    return read && { ...read, sizeBytes: read.bytes.byteLength, body: bodyOf([read.bytes]) };
  }
  const read = await store.get(storedKey, rest);
  if (!read) return undefined;
  const stored = createPieces(read.body);
  try {
    const { nonce, sizeBytes } = openHead(cipherKey, key, await stored.take(HEAD_BYTES));
    checkStoredSize(key, sizeBytes, read.info.sizeBytes);
    const opened = async function* () {
      let isRead = false;
      try {
        const padded = paddedBytes(sizeBytes);
        for (let frame = 0; frame < frameCount(padded); frame += 1) {
          const start = frame * FRAME_BYTES;
          const part = await stored.take(Math.min(FRAME_BYTES, padded - start) + FRAME_EXTRA_BYTES);
          const content = openFrame(cipherKey, key, frame, part, nonce);
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
  { cipherKey, store, storedKey }: Sealed,
  body: AsyncIterable<Uint8Array>,
  put: Parameters<ObjectStore['putStream']>[2] = {},
): Promise<PutOutcome> {
  const { checksum: _, partSizeBytes: __, sizeBytes: known, ...options } = put;
  const content = createPieces(body, put.signal);
  if (known === undefined) {
    const gathered = await content.take(GATHERED_BYTES_MAX + 1).finally(() => content.end());
    if (gathered.length > GATHERED_BYTES_MAX) throw tooLargeStream(store);
    const sealed = sealBytes(cipherKey, gathered);
    return withoutChecksums(
      await store.put(storedKey, sealed, { ...options, checksum: { crc32: crc32(sealed) } }),
    );
  }
  const padded = paddedBytes(known);
  const sealer = createSealer(cipherKey, known);
  const sealed = async function* () {
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
    return withoutChecksums(await store.putStream(storedKey, sealed(), stream));
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
