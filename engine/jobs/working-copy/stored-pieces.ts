/** Where on the store a file's content is, and how a piece of a large file gets from there to the disk. */
import { isDamage } from '../../base/read-checked.ts';
import type { LargeFile, SealedPiece } from '../../files/write/tree-writer-types.ts';
import type { BlobHash, FileEntry } from '../../model/entry.ts';
import type { ByteRange, RemoteKey } from '../../remotes/object-store.ts';
import { objectKey, packKey } from '../../repository/keys.ts';
import { damagedObject, wrongBytes } from './damaged-object.ts';
import type { LocalChunks } from './local-chunks.ts';

const RANGE_BYTES = 16 * 1024 * 1024;

/** An object, or a range of one, to read. */
export interface ContentPart {
  readonly key: RemoteKey;
  readonly range?: ByteRange;
  /** Of an object, what the entry says: it may take another number of bytes, at most those of its content. */
  readonly storedBytes: number;
  /** The size of the content if it is compressed: the thread that writes it holds both. */
  readonly contentBytes?: number;
}

export interface Piece extends ContentPart {
  readonly offset: number;
  /** Of a chunk. */
  readonly hash?: BlobHash;
}

export interface ReadPiece {
  readonly bytes: Uint8Array;
  /** Of the opened bytes. */
  readonly sizeBytes: number;
  readonly sealed?: SealedPiece;
}

/** @throws `damaged`, if the bytes are not what they should be */
export async function writePiece(
  file: LargeFile,
  { contentBytes, hash, key, offset, storedBytes }: Piece,
  { bytes, sealed, sizeBytes }: ReadPiece,
): Promise<void> {
  const wantedBytes = contentBytes ?? storedBytes;
  const isFrame = hash !== undefined && sizeBytes < wantedBytes;
  if (!isFrame) checkWhole(key, sizeBytes, wantedBytes);
  const expected = hash && { hash, ...(isFrame && { contentBytes: wantedBytes }), ...(sealed && { sealed }) };
  await file.write(offset, bytes, expected).catch((error: unknown) => {
    throw isDamage(error) && error.data.key === undefined ? wrongBytes(key) : error;
  });
}

/** Takes a chunk from the older version here. False where it is not, or not any more: it is to be fetched. */
export async function writeLocalPiece(
  file: LargeFile,
  { contentBytes, hash, offset, storedBytes }: Piece,
  { local, memory }: { readonly local: LocalChunks | undefined; readonly memory: Uint8Array },
): Promise<boolean> {
  if (!local || hash === undefined) return false;
  const bytes = await local.read(hash, contentBytes ?? storedBytes, memory);
  if (!bytes) return false;
  try {
    await file.write(offset, bytes, { hash });
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

export function sizesOf(
  sizeBytes: number,
  storedBytes: number | undefined,
): Pick<ContentPart, 'contentBytes' | 'storedBytes'> {
  return storedBytes === undefined ? { storedBytes: sizeBytes } : { storedBytes, contentBytes: sizeBytes };
}

export function* storedPieces(entry: FileEntry): Generator<Piece> {
  let offset = 0;
  if (entry.location.in === 'chunks') {
    for (const chunk of entry.location.chunks) {
      const { generation, hash, sizeBytes, storedBytes } = chunk;
      yield { key: objectKey(hash, generation), ...sizesOf(sizeBytes, storedBytes), offset, hash };
      offset += sizeBytes;
    }
    return;
  }
  for (; offset < entry.sizeBytes; offset += RANGE_BYTES) {
    const storedBytes = Math.min(RANGE_BYTES, entry.sizeBytes - offset);
    const range = { start: offset, end: offset + storedBytes };
    yield { key: keyOfContent(entry), range, storedBytes, offset };
  }
}

/** The pack or the object with the file's content. */
export function keyOfContent({ blob, location }: FileEntry): RemoteKey {
  if (location.in === 'pack') return packKey(location.pack);
  return objectKey(blob, location.in === 'object' ? location.generation : undefined);
}

function checkWhole(key: RemoteKey, sizeBytes: number, wantedBytes: number): void {
  if (sizeBytes !== wantedBytes) throw damagedObject(key, `has ${sizeBytes} bytes instead of ${wantedBytes}`);
}
