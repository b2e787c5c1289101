/** A new file of the bytes that a caller sent, refused when they do not match the checksum that came with them. */
import type { FileHandle } from 'node:fs/promises';
import type { PutOptions, RemoteKey } from '../object-store.ts';
import { receiveChecksum } from '../received-checksum.ts';
import { fillFile } from './file-bytes.ts';
import type { FileRoot } from './file-root.ts';

/** @param path In the root's `writes`. */
export async function writeReceived(
  root: FileRoot,
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  key: RemoteKey,
  put: PutOptions,
): Promise<FileHandle> {
  const checksum = receiveChecksum(put.checksum);
  const file = await fillFile(await root.openNew(path), pieces, put.signal, checksum.update);
  try {
    checksum.verify(key);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
