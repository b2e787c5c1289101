/** Reads the index of a stored pack, which no reader of a dataset needs. */
import { DrayError } from '../../api/error.ts';
import { readChecked } from '../../base/read-checked.ts';
import type { PackHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { damaged } from '../document.ts';
import { packKey } from '../keys.ts';
import { INDEX_FIXED_BYTES, PACK_MAX_BYTES, type PackedBlob, TRAILER_BYTES } from './pack-format.ts';
import { parsePackIndex, readIndexLength } from './pack-index.ts';

/** How much of a pack's end is read first: the index of 3,600 blobs. */
const TAIL_BYTES = 128 * 1024;

/**
 * The index of a stored pack: one request for its end, one more when the index is longer than 128 KiB, and a
 * HEAD before them when `sizeBytes` (from a listing) is unknown.
 * @throws `notFound`; `damaged` naming the pack.
 */
export async function readPackIndex(
  store: ObjectStore,
  hash: PackHash,
  options: CallOptions & { readonly sizeBytes?: number } = {},
): Promise<readonly PackedBlob[]> {
  const { sizeBytes: givenBytes, ...call } = options;
  const packBytes = givenBytes ?? (await store.head(packKey(hash), call))?.sizeBytes;
  if (packBytes === undefined) throw missingPack(hash);
  const readOnce = async () => packBytes;
  return (await readChecked(readOnce, (bytes) => readIndexOf(store, hash, bytes, call)))!;
}

async function readIndexOf(
  store: ObjectStore,
  hash: PackHash,
  packBytes: number,
  call: CallOptions,
): Promise<readonly PackedBlob[]> {
  const key = packKey(hash);
  if (packBytes > PACK_MAX_BYTES) throw damaged(key, 'it is larger than a pack can be');
  if (packBytes < INDEX_FIXED_BYTES) throw damaged(key, 'it is too short for a pack');

  const readEnd = async (bytes: number): Promise<Buffer> => {
    const range = { start: packBytes - bytes, end: packBytes };
    const read = await store.read(key, { ...call, range, maxBytes: bytes });
    if (!read) throw missingPack(hash);
    if (read.bytes.length !== bytes) throw damaged(key, `it is not ${packBytes} bytes long`);
    return Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.byteLength);
  };
  let tail = await readEnd(Math.min(TAIL_BYTES, packBytes));
  const indexBytes = readIndexLength(tail, packBytes);
  if (typeof indexBytes === 'string') throw damaged(key, indexBytes);
  if (indexBytes + TRAILER_BYTES > tail.length) tail = await readEnd(indexBytes + TRAILER_BYTES);
  const index = tail.subarray(tail.length - TRAILER_BYTES - indexBytes, tail.length - TRAILER_BYTES);
  const blobs = parsePackIndex(index, packBytes - TRAILER_BYTES - indexBytes);
  if (typeof blobs === 'string') throw damaged(key, blobs);
  return blobs;
}

function missingPack(hash: PackHash): DrayError {
  const key = packKey(hash);
  return new DrayError('notFound', `The repository has no ${key}.`, { data: { key } });
}
