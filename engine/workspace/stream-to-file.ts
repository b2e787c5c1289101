/** One file from a stream: written beside its place and put there when the stream has ended well. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { writeError } from './tree-writer-error.ts';
import { putInPlaceOrRemove } from './tree-writer-place.ts';

/** Resolves to the bytes that were written. @throws DrayError `io`, `diskFull`, `conflict` for a folder in the way, `aborted`. */
export async function writeStreamToFile(
  body: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<number> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.dray-tmp`;
  try {
    const file = await open(temporary, 'wx');
    let bytes = 0;
    try {
      for await (const piece of body) {
        checkAborted(signal);
        await file.writeFile(piece);
        bytes += piece.length;
      }
    } finally {
      await file.close();
    }
    if ('stat' in putInPlaceOrRemove(temporary, path)) return bytes;
    throw new DrayError('conflict', `${path} is a folder where a file has to be.`, { data: { path } });
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error instanceof DrayError ? error : writeError(error, path);
  }
}
