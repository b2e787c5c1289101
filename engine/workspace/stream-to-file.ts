/** One file from a stream: written in `.dray-tmp` beside its place and put there when the stream has ended well. */
import { open } from 'node:fs/promises';
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { openTemporaryFolderBeside } from './temporary-folder.ts';
import { writeError } from './tree-writer-error.ts';
import { putInPlaceOrRemove } from './tree-writer-place.ts';

/** Resolves to the bytes that were written. @throws DrayError `io`, `diskFull`, `conflict` for a folder in the way, `aborted`. */
export async function writeStreamToFile(
  body: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<number> {
  const temporaries = openTemporaryFolderBeside(path);
  try {
    const temporary = temporaries.newName();
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
    throw error instanceof DrayError ? error : writeError(error, path);
  } finally {
    temporaries.close();
  }
}
