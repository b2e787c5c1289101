/** Fills a new file with a caller's bytes, and refuses bytes that do not match their announced checksum. */
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
