/** A new file of the bytes that a caller sent, refused when they do not match the checksum that came with them. */
import type { FileHandle } from 'node:fs/promises';
import type { ObjectChecksums, PutOptions, RemoteKey } from '../object-store.ts';
import { receiveChecksum } from '../received-checksum.ts';
import { fillFile } from './file-bytes.ts';
import type { FileRoot } from './file-root.ts';

export interface ReceivedFile {
  readonly file: FileHandle;
  /** What was computed of the bytes, where the caller announced a checksum. */
  readonly checksums: ObjectChecksums | undefined;
}

/** @param path In the root's `writes`. */
export async function writeReceived(
  root: FileRoot,
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  key: RemoteKey,
  put: PutOptions,
): Promise<ReceivedFile> {
  const checksum = await receiveChecksum(put.checksum);
  const file = await fillFile(await root.openNew(path), pieces, put.signal, checksum.update);
  try {
    return { file, checksums: checksum.verify(key) };
  } catch (error) {
    await file.close();
    throw error;
  }
}
