/**
 * The chunks of a new version that the older one, which lies at the same path, has too. What is read here is
 * never trusted: who writes a chunk checks it by its hash, and fetches it if the file has changed meanwhile.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { OPEN_TO_READ } from '../../base/open-to-read.ts';
import { statLocal } from '../../files/scan/local-place.ts';
import type { BlobHash, FileEntry } from '../../model/entry.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';

export interface LocalChunks {
  /** Reads the chunk into the start of `into`. Undefined if it is not here as a whole. */
  read(hash: BlobHash, sizeBytes: number, into: Uint8Array): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

interface Place {
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Undefined where no file of chunks is known at the path. */
export async function openLocalChunks(
  { index, workspace }: Pick<Session, 'index' | 'workspace'>,
  { known }: Pick<LinkedRepository, 'known'>,
  { location, path }: FileEntry,
): Promise<LocalChunks | undefined> {
  if (location.in !== 'chunks') return undefined;
  const places = placesOf(index.files.baseEntries(path, path, known.id)?.[0]);
  if (!places || !location.chunks.some(({ hash }) => places.has(hash))) return undefined;
  const file = await openQuietly(workspace.root, path);
  return (
    file && {
      async read(hash, sizeBytes, into) {
        const place = places.get(hash);
        if (!place || place.sizeBytes !== sizeBytes || into.byteLength < sizeBytes) return undefined;
        return readQuietly(file, place, into);
      },
      close: () => file.close(),
    }
  );
}

function placesOf(entry: { readonly kind: string } | undefined): ReadonlyMap<BlobHash, Place> | undefined {
  if (entry?.kind !== 'file') return undefined;
  const { location } = entry as FileEntry;
  if (location.in !== 'chunks') return undefined;
  const places = new Map<BlobHash, Place>();
  let offset = 0;
  for (const { hash, sizeBytes } of location.chunks) {
    places.set(hash, { offset, sizeBytes });
    offset += sizeBytes;
  }
  return places;
}

/** Through no link. */
async function openQuietly(root: string, path: string): Promise<FileHandle | undefined> {
  try {
    if (typeof statLocal(root, path) !== 'object') return undefined;
    return await open(join(root, path), OPEN_TO_READ);
  } catch {
    // All of it is fetched then.
    return undefined;
  }
}

async function readQuietly(
  file: FileHandle,
  { offset, sizeBytes }: Place,
  into: Uint8Array,
): Promise<Uint8Array | undefined> {
  try {
    for (let filled = 0; filled < sizeBytes; ) {
      const { bytesRead } = await file.read(into, filled, sizeBytes - filled, offset + filled);
      if (bytesRead === 0) return undefined;
      filled += bytesRead;
    }
    return into.subarray(0, sizeBytes);
  } catch {
    // A disk that cannot be read costs a fetch.
    return undefined;
  }
}
