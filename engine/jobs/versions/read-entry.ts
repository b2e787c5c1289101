/** Finds one entry of a commit and reads ranges of its content. */
import { createHash, type Hash, hash as hashNow } from 'node:crypto';
import { Budget } from '../../base/budget.ts';
import { isDamage, readChecked } from '../../base/read-checked.ts';
import { COMPRESSED_CONTENT_BYTES_MAX, contentOfObject } from '../../compression/zstd-blob.ts';
import type { BlobHash, Chunk, Entry, FileEntry } from '../../model/entry.ts';
import type { CallOptions, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { objectKey, packKey } from '../../repository/keys.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { damagedObject, wrongBytes } from '../working-copy/damaged-object.ts';
import { createDecodedContents, type DecodedContents } from './decoded-contents.ts';

/** Takes at most one request. Undefined if the commit has no entry at the path. */
export async function findEntry(
  store: ObjectStore,
  commit: Commit,
  path: string,
  signal: AbortSignal,
): Promise<Entry | undefined> {
  for await (const page of readEntries(store, commit, { prefix: path, signal })) {
    const found = page.find((entry) => entry.path === path);
    // The path itself sorts before longer paths with the same prefix.
    return found;
  }
  return undefined;
}

/**
 * The file's first `maxBytes`, or all of it if it is shorter. A blob or chunk that is read whole is checked
 * against its hash.
 * @throws `damaged`
 */
export async function readEntryStart(
  store: ObjectStore,
  entry: FileEntry,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readEntryBytes(store, entry, { end: maxBytes, signal })) pieces.push(piece);
  return Buffer.concat(pieces);
}

export interface EntryRange {
  /** Default 0. */
  readonly start?: number;
  /** Exclusive. Capped at the file's size. */
  readonly end: number;
  readonly signal: AbortSignal;
  readonly reading?: Partial<Reading>;
}

/** How files are read, for readers that have many open at once. What is absent, each read has of its own. */
export interface Reading {
  /** The most bytes of one read of plain content. */
  readonly windowBytes: number;
  /** The most bytes of one read of each file together, as long as `WINDOW_BYTES_MIN` for each is less. */
  readonly windowsBytes: number;
  /** The files that are being read. */
  readonly readers: { count: number };
  /** Windows in memory ahead of the one that is awaited. They take turns with those of other readers. */
  readonly ahead: Budget;
  /** Windows that are being read. A read takes several times the memory of its window. */
  readonly reads: Budget;
  readonly contents: DecodedContents;
  /**
   * Objects whose bytes were wrong when they were read in several windows. A cache may hold those bytes, so
   * the next reader of such an object asks the store again.
   */
  readonly doubtful: Set<RemoteKey>;
}

const DOUBTFUL_MAX = 1_000;

const WINDOW_BYTES = 8 * 1024 * 1024;
const WINDOW_BYTES_MIN = 256 * 1024;
const AHEAD_MAX = 4;

/**
 * Yields the file's bytes from `start` to `end` in order. A blob or chunk that is read whole is checked
 * against its hash before its last bytes are yielded.
 * @throws `damaged`
 */
export async function* readEntryBytes(
  store: ObjectStore,
  entry: FileEntry,
  { end, reading, signal, start = 0 }: EntryRange,
): AsyncGenerator<Uint8Array> {
  const how: Reading = {
    windowBytes: reading?.windowBytes ?? WINDOW_BYTES,
    windowsBytes: reading?.windowsBytes ?? WINDOW_BYTES,
    readers: reading?.readers ?? { count: 0 },
    ahead: reading?.ahead ?? new Budget(1),
    reads: reading?.reads ?? new Budget(AHEAD_MAX),
    contents: reading?.contents ?? createDecodedContents({ bytesMax: COMPRESSED_CONTENT_BYTES_MAX }),
    doubtful: reading?.doubtful ?? new Set(),
  };
  const { ahead, readers } = how;
  const windows = windowsOf(entry, start, end, () => windowBytesOf(how));
  // One window needs no signal of its own, which would cost a small file a tenth of its time.
  let stop: AbortController | undefined;
  let call: CallOptions = { signal };
  const queue: { readonly window: Window; readonly bytes: Promise<Uint8Array>; readonly isAhead: boolean }[] =
    [];
  const begin = (window: Window, isAhead: boolean) => {
    const bytes = readWindow(store, window, how, call);
    // It is awaited later; until then, or after an early end, a failure must not count as unhandled.
    bytes.catch(() => {});
    queue.push({ window, bytes, isAhead });
  };
  let hasher: Hash | undefined;
  readers.count += 1;
  try {
    for (let next = windows.next(); ; ) {
      if (queue.length === 0) {
        if (next.done) return;
        begin(next.value, false);
        next = windows.next();
      }
      if (!next.done && !stop) {
        stop = new AbortController();
        call = { signal: AbortSignal.any([signal, stop.signal]) };
      }
      for (; !next.done && queue.length <= AHEAD_MAX && ahead.takeNow(1); next = windows.next())
        begin(next.value, true);
      const { bytes: awaited, isAhead, window } = queue[0]!;
      const bytes = await awaited;
      queue.shift();
      if (isAhead) ahead.giveBack(1);
      if (window.isHashed) {
        hasher ??= createHash('sha256');
        hasher.update(bytes);
        if (window.to === window.piece.sizeBytes) {
          // What was read ahead may be as wrong.
          const read = [window, ...queue.map((ahead) => ahead.window)].map(({ piece }) => piece.key);
          checkHash(window.piece, hasher.digest('hex'), read, how.doubtful);
          hasher = undefined;
        }
      }
      yield bytes;
    }
  } finally {
    readers.count -= 1;
    // An abort makes an error with a stack, so none where nothing is read.
    if (queue.length > 0) stop?.abort();
    for (const { isAhead } of queue) if (isAhead) ahead.giveBack(1);
  }
}

/** @throws `damaged` */
function checkHash(
  { hash, key }: Piece,
  found: string,
  read: readonly RemoteKey[],
  doubtful: Set<RemoteKey>,
): void {
  if (found === hash) {
    doubtful.delete(key);
    return;
  }
  for (const each of read) if (doubtful.size < DOUBTFUL_MAX) doubtful.add(each);
  throw wrongBytes(key);
}

/** A blob, or a chunk of one, and its place. */
interface Piece {
  readonly key: RemoteKey;
  readonly offset: number;
  readonly hash: BlobHash;
  readonly sizeBytes: number;
  /** If it is compressed, as the entry says. An object may be stored otherwise. */
  readonly storedBytes?: number;
  readonly isPacked: boolean;
}

/** What one read brings: bytes of the piece's content, half open. */
interface Window {
  readonly piece: Piece;
  readonly from: number;
  readonly to: number;
  /** One of several of a piece that is read whole, so it is hashed when its turn comes. */
  readonly isHashed: boolean;
}

function windowBytesOf({ readers, windowBytes, windowsBytes }: Reading): number {
  return Math.min(windowBytes, Math.max(WINDOW_BYTES_MIN, Math.floor(windowsBytes / readers.count)));
}

function* windowsOf(
  entry: FileEntry,
  start: number,
  end: number,
  windowBytes: () => number,
): Generator<Window> {
  let before = 0;
  for (const piece of piecesOf(entry)) {
    const low = Math.max(0, start - before);
    const high = Math.min(piece.sizeBytes, end - before);
    before += piece.sizeBytes;
    const isWhole = low === 0 && high === piece.sizeBytes;
    for (let from = low, to = low; from < high; from = to) {
      to = Math.min(high, from + windowBytes());
      yield { piece, from, to, isHashed: isWhole && to - from < piece.sizeBytes };
    }
  }
}

function piecesOf({ blob: hash, location, sizeBytes }: FileEntry): readonly Piece[] {
  switch (location.in) {
    case 'nowhere':
      return [];
    case 'pack':
      return [{ ...location, key: packKey(location.pack), hash, sizeBytes, isPacked: true }];
    case 'object':
      return [objectPiece({ ...location, hash, sizeBytes })];
    case 'chunks':
      return location.chunks.map(objectPiece);
  }
}

function objectPiece(chunk: Chunk): Piece {
  return { ...chunk, key: objectKey(chunk.hash, chunk.generation), offset: 0, isPacked: false };
}

async function readWindow(
  store: ObjectStore,
  window: Window,
  { contents, doubtful, reads }: Reading,
  call: CallOptions,
): Promise<Uint8Array> {
  const { from, piece, to } = window;
  using _permit = await reads.acquire(1, call.signal);
  const how = { ...call, isAgain: doubtful.has(piece.key) };
  const readDecoded = () => contents.get(piece, { start: from, end: to }, () => readWhole(store, piece), how);
  if (piece.storedBytes !== undefined) return readDecoded();
  try {
    return await readPlain(store, window, how);
  } catch (error) {
    // The object may be compressed although the entry does not say so.
    const isUnclear = !piece.isPacked && piece.sizeBytes <= COMPRESSED_CONTENT_BYTES_MAX;
    if (!isUnclear || !isDamage(error)) throw error;
    return readDecoded().catch((later: unknown) => {
      throw isDamage(later) ? error : later;
    });
  }
}

async function readPlain(
  store: ObjectStore,
  { from, piece, to }: Window,
  { isAgain: isDoubtful, ...call }: CallOptions & { readonly isAgain: boolean },
): Promise<Uint8Array> {
  const { hash, isPacked, key, offset, sizeBytes } = piece;
  // The range of a sealed object does not say the object's exact size.
  const head = store.sealing && !isPacked && from > 0 ? await store.head(key, call) : undefined;
  const isWhole = to - from === sizeBytes;
  const range = { start: offset + from, end: offset + to };
  const bytes = await readChecked(
    (isAgain) => store.read(key, { ...call, range, maxBytes: to - from, isAgain: isAgain || isDoubtful }),
    (read) => {
      const isRight = !isWhole || sha256(read.bytes) === hash;
      const isCompressed = !isPacked && (head ?? read.info).sizeBytes < sizeBytes;
      if (read.bytes.length === to - from && isRight && !isCompressed) return read.bytes;
      throw wrongBytes(key);
    },
  );
  if (!bytes) throw damagedObject(key, 'is missing on the remote');
  return bytes;
}

/** A frame can only be read from its start, so a range needs all of it. */
async function readWhole(
  store: ObjectStore,
  { hash, isPacked, key, offset, sizeBytes, storedBytes = sizeBytes }: Piece,
): Promise<Uint8Array> {
  const part = { range: { start: offset, end: offset + storedBytes }, maxBytes: storedBytes };
  const content = await readChecked(
    (isAgain) => store.read(key, { ...(isPacked ? part : { maxBytes: sizeBytes }), isAgain }),
    ({ bytes }) => {
      const found = contentOfObject(bytes, sizeBytes);
      if (found && sha256(found) === hash) return found;
      throw wrongBytes(key);
    },
  );
  if (!content) throw damagedObject(key, 'is missing on the remote');
  return content;
}

/** In one call, which for small content is quicker than an object that hashes. */
function sha256(bytes: Uint8Array): string {
  return hashNow('sha256', bytes);
}
