/** One entry of a commit, and the first bytes of its content: what a preview shows. */
import { createHash } from 'node:crypto';
import { DrayError } from '../api/error.ts';
import type { BlobHash, Entry, FileEntry } from '../model/entry.ts';
import type { ObjectStore, RemoteKey } from '../remotes/object-store.ts';
import type { Commit } from '../repository/commit.ts';
import { objectKey, packKey } from '../repository/keys.ts';
import { readEntries } from '../repository/read-entries.ts';

/** One request at most. Undefined: the commit has nothing there. */
export async function findEntry(
  store: ObjectStore,
  commit: Commit,
  path: string,
  signal: AbortSignal,
): Promise<Entry | undefined> {
  for await (const page of readEntries(store, commit, { prefix: path, signal })) {
    const found = page.find((entry) => entry.path === path);
    // Longer paths that begin alike come after it.
    return found;
  }
  return undefined;
}

/**
 * The file's first `maxBytes`, or all of it when that is less. Bytes that make a whole blob or chunk are checked against its hash.
 * @throws `damaged`
 */
export async function readEntryStart(
  store: ObjectStore,
  entry: FileEntry,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const wanted = Math.min(maxBytes, entry.sizeBytes);
  const read = (key: RemoteKey, start: number, piece: Piece) =>
    readPiece({ store, key, start, signal }, piece);
  const { location } = entry;
  switch (location.in) {
    case 'nowhere':
      return new Uint8Array(0);
    case 'pack': {
      const piece = { hash: entry.blob, sizeBytes: entry.sizeBytes, wantedBytes: wanted };
      return read(packKey(location.pack), location.offset, piece);
    }
    case 'object': {
      const piece = { hash: entry.blob, sizeBytes: entry.sizeBytes, wantedBytes: wanted };
      return read(objectKey(entry.blob), 0, piece);
    }
    case 'chunks': {
      const pieces: Uint8Array[] = [];
      let left = wanted;
      for (const { hash, sizeBytes } of location.chunks) {
        if (left === 0) break;
        const wantedBytes = Math.min(left, sizeBytes);
        pieces.push(await read(objectKey(hash), 0, { hash, sizeBytes, wantedBytes }));
        left -= wantedBytes;
      }
      return Buffer.concat(pieces);
    }
  }
}

interface Piece {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
  readonly wantedBytes: number;
}

interface PiecePlace {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  readonly start: number;
  readonly signal: AbortSignal;
}

async function readPiece(
  { key, signal, start, store }: PiecePlace,
  { hash, sizeBytes, wantedBytes }: Piece,
): Promise<Uint8Array> {
  if (wantedBytes === 0) return new Uint8Array(0);
  const range = { start, end: start + wantedBytes };
  const found = await store.read(key, { range, maxBytes: wantedBytes, signal });
  const isWhole = wantedBytes === sizeBytes;
  const isRight =
    found?.bytes.length === wantedBytes &&
    (!isWhole || createHash('sha256').update(found.bytes).digest('hex') === hash);
  if (found && isRight) return found.bytes;
  const what = found ? 'does not hold the bytes that were pushed' : 'is missing on the remote';
  throw new DrayError('damaged', `${key} ${what}. "dray verify" names every file that it affects.`, {
    data: { key },
  });
}
