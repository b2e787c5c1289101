/** Finds one entry of a commit and reads ranges of its content. */
import { createHash } from 'node:crypto';
import { isDamage, readChecked } from '../../base/read-checked.ts';
import { COMPRESSED_CONTENT_BYTES_MAX, contentOfObject } from '../../compression/zstd-blob.ts';
import type { BlobHash, Chunk, Entry, FileEntry } from '../../model/entry.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { objectKey, packKey } from '../../repository/keys.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { damagedObject, wrongBytes } from '../working-copy/damaged-object.ts';

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
}

/** Bytes in memory at once. */
const WINDOW_BYTES = 8 * 1024 * 1024;

/**
 * Yields the file's bytes from `start` to `end` in order. A blob or chunk that is read whole is checked
 * against its hash before its last bytes are yielded.
 * @throws `damaged`
 */
export async function* readEntryBytes(
  store: ObjectStore,
  entry: FileEntry,
  { end, signal, start = 0 }: EntryRange,
): AsyncGenerator<Uint8Array> {
  let before = 0;
  for (const piece of piecesOf(entry)) {
    const from = Math.max(0, start - before);
    const to = Math.min(piece.sizeBytes, end - before);
    before += piece.sizeBytes;
    if (from < to) yield* readPiece(store, piece, { from, to, signal });
  }
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

interface PieceRange {
  readonly from: number;
  readonly to: number;
  readonly signal: AbortSignal;
}

async function* readPiece(store: ObjectStore, piece: Piece, range: PieceRange): AsyncGenerator<Uint8Array> {
  let content: Uint8Array | undefined;
  if (piece.storedBytes === undefined) {
    let isBegun = false;
    try {
      for await (const bytes of readPlain(store, piece, range)) {
        isBegun = true;
        yield bytes;
      }
      return;
    } catch (error) {
      const isUnclear = !isBegun && !piece.isPacked && piece.sizeBytes <= COMPRESSED_CONTENT_BYTES_MAX;
      if (!isUnclear || !isDamage(error)) throw error;
      content = await readWhole(store, piece, range.signal).catch((later: unknown) => {
        throw isDamage(later) ? error : later;
      });
    }
  }
  content ??= await readWhole(store, piece, range.signal);
  for (let at = range.from; at < range.to; at += WINDOW_BYTES)
    yield content.subarray(at, Math.min(range.to, at + WINDOW_BYTES));
}

async function* readPlain(
  store: ObjectStore,
  { hash, isPacked, key, offset, sizeBytes }: Piece,
  { from, signal, to }: PieceRange,
): AsyncGenerator<Uint8Array> {
  // The range of a sealed object does not say the object's exact size.
  const head = store.sealing && !isPacked && from > 0 ? await store.head(key, { signal }) : undefined;
  const hasher = from === 0 && to === sizeBytes ? createHash('sha256') : undefined;
  const isOneWindow = hasher !== undefined && sizeBytes <= WINDOW_BYTES;
  for (let at = from; at < to; at += WINDOW_BYTES) {
    const wantedBytes = Math.min(WINDOW_BYTES, to - at);
    const range = { start: offset + at, end: offset + at + wantedBytes };
    const found = await readChecked(
      () => store.read(key, { range, maxBytes: wantedBytes, signal }),
      (read) => {
        const isRight = !isOneWindow || createHash('sha256').update(read.bytes).digest('hex') === hash;
        const isCompressed = !isPacked && (head ?? read.info).sizeBytes < sizeBytes;
        if (read.bytes.length === wantedBytes && isRight && !isCompressed) return read;
        throw wrongBytes(key);
      },
    );
    if (!found) throw damagedObject(key, 'is missing on the remote');
    hasher?.update(found.bytes);
    const isLast = at + wantedBytes === to;
    if (isLast && hasher && hasher.digest('hex') !== hash) throw wrongBytes(key);
    yield found.bytes;
  }
}

/** A frame can only be read from its start, so a range needs all of it. */
async function readWhole(
  store: ObjectStore,
  { hash, isPacked, key, offset, sizeBytes, storedBytes = sizeBytes }: Piece,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const part = { range: { start: offset, end: offset + storedBytes }, maxBytes: storedBytes };
  const content = await readChecked(
    () => store.read(key, { ...(isPacked ? part : { maxBytes: sizeBytes }), signal }),
    ({ bytes }) => {
      const found = contentOfObject(bytes, sizeBytes);
      if (found && createHash('sha256').update(found).digest('hex') === hash) return found;
      throw wrongBytes(key);
    },
  );
  if (!content) throw damagedObject(key, 'is missing on the remote');
  return content;
}
