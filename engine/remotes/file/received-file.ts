/** Fills a new file with the bytes that a caller sent, and refuses those that do not match the checksum that came with them. */
import type { FileHandle } from 'node:fs/promises';
import type { ObjectChecksums, PutOptions, RemoteKey } from '../object-store.ts';
import { receiveChecksum } from '../received-checksum.ts';
import { fillFile } from './file-bytes.ts';

/** @returns The checksum of the bytes, if the caller announced one. */
export async function writeReceived(
  file: FileHandle,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  key: RemoteKey,
  put: Pick<PutOptions, 'checksum' | 'signal'>,
): Promise<ObjectChecksums | undefined> {
  const checksum = await receiveChecksum(put.checksum);
  await fillFile(file, pieces, put.signal, checksum.update);
  return checksum.verify(key);
}
