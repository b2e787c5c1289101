/** Reads and writes the lists of a collection, named by the SHA-256 of their uncompressed bytes. */
import { hash as hashOf } from 'node:crypto';
import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { readChecked } from '../../base/read-checked.ts';
import type { CallOptions, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { absent, damaged } from '../document.ts';
import { collectionListKey } from '../keys.ts';

/** 60,000,000 keys in an avoid list; a key list has 100,000 keys of at most 90 bytes. */
const LIST_MAX_BYTES = 256 * 1024 * 1024;

export function encodeList(raw: Uint8Array): {
  readonly name: string;
  readonly key: RemoteKey;
  readonly bytes: Uint8Array;
} {
  const name = hashOf('sha256', raw, 'hex');
  return { name, key: collectionListKey(name), bytes: zstdCompressSync(raw) };
}

/** One request. @returns The list's name. */
export async function writeList(
  store: ObjectStore,
  raw: Uint8Array,
  options: CallOptions = {},
): Promise<string> {
  const { bytes, key, name } = encodeList(raw);
  const checksum = { crc32: crc32(bytes) };
  await store.put(key, bytes, { ...options, condition: { absent: true }, checksum });
  return name;
}

/** One request, and one more for damaged bytes. @throws `damaged`, also for a missing list */
export async function readList(
  store: ObjectStore,
  name: string,
  options: CallOptions = {},
): Promise<Uint8Array> {
  const key = collectionListKey(name);
  const raw = await readChecked(
    () => store.read(key, { ...options, maxBytes: LIST_MAX_BYTES }),
    ({ bytes }) => unpack(name, bytes),
  );
  if (raw) return raw;
  throw absent(store, key);
}

function unpack(name: string, stored: Uint8Array): Uint8Array {
  const key = collectionListKey(name);
  let raw: Uint8Array;
  try {
    raw = zstdDecompressSync(stored, { maxOutputLength: LIST_MAX_BYTES });
  } catch (cause) {
    throw damaged(key, 'it does not decompress', cause);
  }
  if (hashOf('sha256', raw, 'hex') !== name) throw damaged(key, 'its content does not match its name');
  return raw;
}
